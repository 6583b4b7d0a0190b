# make train, make test, make check: the same commands on a desk and in CI.

VENV := .venv
BIN := $(VENV)/bin
TORCH := $(shell sed -n 's/^torch==//p' constraints.txt)
PYTHON :=

# With more threads torch is ten times slower as soon as two processes share the cores.
export OMP_NUM_THREADS := 1
# Ray reports its use to its makers unless told not to.
export RAY_USAGE_STATS_ENABLED := 0

.DEFAULT_GOAL := help
.PHONY: help train test check soak bench clean lock

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST)

train: $(VENV)/.installed ## install, train the small recipe, print its table (leaves runs/quick)
	$(BIN)/lupai train configs/qingdao_quick.yaml --replace
	$(BIN)/lupai evaluate runs/quick --against random,greedy

test: $(VENV)/.installed ## the tests, without the soak ones
	$(BIN)/pytest -n 2 --dist loadgroup

check: $(VENV)/.installed ## lint, format, types, then the tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python tools/link_tree.py
	$(BIN)/mypy
	$(MAKE) test

soak: $(VENV)/.installed ## the full counts: minutes to hours
	$(BIN)/pytest -m soak --timeout 0 -n 2 --dist loadgroup

bench: $(VENV)/.bench ## our speed beside other suites, on one core (installs them)
	$(BIN)/lupai bench --peers

clean: ## remove builds and caches; .venv and runs stay
	rm -rf build dist *.egg-info .typing .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +

lock: ## resolve the newest versions into constraints.txt (TORCH=x.y.z for another torch)
	@$(call find_python); rm -rf .venv-lock && $$py -m venv .venv-lock
	.venv-lock/bin/pip install -q "torch==$(TORCH)"
	.venv-lock/bin/pip install -q "torch==$(TORCH)" -e ".[train,dev,bench]"
	.venv-lock/bin/pip freeze --all --exclude-editable > .venv-lock/frozen
	@! grep ' @ ' .venv-lock/frozen || { echo "the lock wants versions, not paths" >&2; exit 1; }
	sed -n '/^#/p' constraints.txt > .venv-lock/lock
	sed -e '/^pip==/d' -e '/^nvidia-/d' -e '/^cuda-/d' -e '/^triton==/d' -e 's/+[a-z0-9.]*$$//' .venv-lock/frozen >> .venv-lock/lock
	mv .venv-lock/lock constraints.txt
	rm -rf .venv-lock

# torch first and by its exact version: left to the resolver, it may take a build of several GB.
$(VENV)/.installed: pyproject.toml constraints.txt
	@test -x $(BIN)/pip || { $(call find_python); $$py -m venv --clear $(VENV); }
	@echo "installing into $(VENV): some 2 GB, one to several minutes"
	$(BIN)/pip install -q "torch==$(TORCH)" -c constraints.txt
	$(BIN)/pip install -q -e ".[train,dev]" -c constraints.txt
	@touch $@

# Not part of the tests' installation: they use stand-ins where a suite is missing.
$(VENV)/.bench: $(VENV)/.installed
	$(BIN)/pip install -q -e ".[bench]" -c constraints.txt
	@touch $@

# Sets the shell variable py to the first Python that is new enough.
define find_python
	py=; for p in $(or $(PYTHON),python3.11 python3.12 python3.13 python3); do \
	  if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then py=$$p; break; fi; \
	done; \
	test -n "$$py" || { echo "lupai needs Python 3.11 or newer: install it, or make PYTHON=/path/to/python" >&2; exit 1; }
endef
