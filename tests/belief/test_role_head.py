"""Role heads of trained agents as predictors."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from lupai.agents.belief import BeliefError, ask_predictor, candidates, load_predictor  # noqa: E402
from lupai.agents.belief.base import ALONE  # noqa: E402
from lupai.agents.card import NetworkConfig  # noqa: E402
from lupai.agents.checkpoint import load_agent, load_role_head, save_agent  # noqa: E402
from lupai.agents.network import move_table  # noqa: E402
from lupai.agents.policies import build_policy, policy_names  # noqa: E402
from lupai.agents.role_head import RoleHead  # noqa: E402
from lupai.envs.baohuang.engine import Engine  # noqa: E402
from lupai.envs.view import Views  # noqa: E402
from lupai.train.belief.scoring import check_causal  # noqa: E402
from lupai.train.dmc.trainer import DMCTrainer  # noqa: E402
from lupai.train.onnx_export import export_agent  # noqa: E402
from lupai.train.privileged import UNLABELLED, role_labels  # noqa: E402
from lupai.train.run_folder import Progress  # noqa: E402
from tests.belief.hands import decisions  # noqa: E402
from tests.tiny_agent import save_tiny_agent  # noqa: E402
from tests.train.test_dmc import dmc  # noqa: E402

pytestmark = pytest.mark.train


def save_with_head(folder, rules="weihai", policies="shared"):
    """An agent with random weights and a role head that says something."""
    engine = Engine(rules)
    sizes = NetworkConfig(hidden=(16,), move_hidden=8, value_hidden=(8,), policies=policies)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        policy = build_policy(move_table(engine.observation_layout), sizes)
        head = RoleHead(16, len(policy_names(sizes)))
        torch.nn.init.normal_(head.head.weight, std=20.0)
    return save_agent(folder, policy, sizes, engine, role_head=head)


@pytest.mark.parametrize("policies", ["shared", "role"])
@pytest.mark.parametrize("observer", ["rebel", "emperor"])
def test_it_says_what_the_head_says_of_each_view(tmp_path, observer, policies):
    folder = save_with_head(tmp_path / "agent", policies=policies)
    predictor = load_predictor(f"role-head:{folder}", "weihai")
    views = decisions("weihai").views(observer)
    chances = ask_predictor(predictor, views)
    check_causal(predictor, views)
    assert not chances[~candidates(views)].any()
    assert predictor.weights_sha256 == load_agent(folder).card.weights_sha256
    policy, head = load_agent(folder).policy, load_role_head(folder)
    for row in range(0, len(views), 53):
        view = views[row]
        seen = torch.tensor(view.observation[None])
        with torch.no_grad():
            logits = head(policy.embed(seen), policy.which(seen))[0].double().numpy()
        weights = np.zeros(6)
        for k in range(4):  # seats from 下家 on, then nobody
            weights[(view.seat + 1 + k) % 5] = np.exp(logits[k])
        weights[ALONE] = np.exp(logits[4])
        weights[int(view.state.emperor[0])] = 0
        if observer == "emperor":
            weights[ALONE] = 0
        np.testing.assert_allclose(chances[row], weights / weights.sum(), atol=1e-6)
    assert np.ptp(chances, axis=0).max() > 0.1


def test_its_classes_are_those_of_the_labels_it_learned():
    """The truth has the place that a label of the training has."""
    found = decisions("weihai")
    views = found.views("rebel")
    labels = role_labels(found.state, views.seats)
    assert (labels != UNLABELLED).all()
    seat = np.where(labels == 4, ALONE, (views.seats + 1 + labels) % 5)
    assert (seat == found.label).all()


def test_what_a_run_keeps_is_its_head(tmp_path):
    """A checkpoint's agent plays as before, and an agent of a run without a head has none."""
    for weight in (0.2, 0.0):
        config = dmc("weihai", network={"role_head": weight})
        trainer = DMCTrainer(config, Progress())
        folder = tmp_path / f"agent-{weight}"
        try:
            trainer.write_agent(folder, Progress(3))
            head, learned = load_role_head(folder), trainer.learner.role_head
        finally:
            trainer.close()
        assert (head is None) == (learned is None) == (weight == 0)
        assert (folder / "role_head.pt").is_file() == (weight > 0)
        if head is not None:
            states = head.state_dict(), learned.state_dict()
            assert all(torch.equal(value, states[1][key]) for key, value in states[0].items())
        views = decisions("weihai")
        at = Views(views.engine, views.state, views.state.actor.astype(np.intp))
        assert at.legal.contains(load_agent(folder).act_batch(at)).all()


@pytest.mark.slow
def test_an_onnx_file_holds_no_head(tmp_path):
    pytest.importorskip("onnxscript")
    from lupai.agents.onnx_agent import load_onnx

    agent = load_agent(save_with_head(tmp_path / "agent"))
    assert agent.card.role_head_sha256
    export_agent(agent, tmp_path / "agent.onnx")
    assert load_onnx(tmp_path / "agent.onnx").card.role_head_sha256 == ""


def test_what_it_cannot_answer_is_refused(tmp_path):
    folder = save_with_head(tmp_path / "agent")
    predictor = load_predictor(f"role-head:{folder}")
    with pytest.raises(BeliefError, match="view 0: a role head reads what a seat sees"):
        predictor.predict(decisions("weihai").views("spectator"))
    with pytest.raises(BeliefError, match="trained under rules 'weihai'"):
        predictor.predict(decisions("qingdao").views("rebel"))
    with pytest.raises(BeliefError, match="rules is 'weihai', needed is 'qingdao'"):
        load_predictor(f"role-head:{folder}", "qingdao")
    with pytest.raises(BeliefError, match="no such folder"):
        load_predictor(f"role-head:{tmp_path / 'none'}")
    plain = save_tiny_agent(tmp_path / "plain")
    with pytest.raises(BeliefError, match="comes without a role head"):
        load_predictor(f"role-head:{plain}")
    (folder / "role_head.pt").write_bytes(b"other")
    with pytest.raises(BeliefError, match=r"role_head\.pt: 5 bytes with SHA-256"):
        load_predictor(f"role-head:{folder}")
    (folder / "role_head.pt").unlink()
    with pytest.raises(BeliefError, match=r"role_head\.pt: cannot be read"):
        load_predictor(f"role-head:{folder}")
    load_agent(folder)  # it plays without
