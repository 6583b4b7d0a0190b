"""Training recipes as YAML, read with `importlib.resources.files("lupai.configs")`."""
