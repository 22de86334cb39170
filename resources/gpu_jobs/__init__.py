"""GPU job shapes of the cluster profile: a step's pod with a model server beside it, from one typed description."""

from .executor import executor_for
from .models import ROLE_MODELS, ModelSpec, model_of
from .step_config import CONFIG_TAG, op_tags, step_config

__all__ = ["CONFIG_TAG", "ROLE_MODELS", "ModelSpec", "executor_for", "model_of", "op_tags", "step_config"]
