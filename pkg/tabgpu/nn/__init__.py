"""Functions of neural networks under the names, argument order and defaults of torch.nn.functional."""

from __future__ import annotations

from . import grad as grad
from .activations import *  # noqa: F403  # the chapter says what is public
from .attention import *  # noqa: F403
from .channel_norms import *  # noqa: F403
from .class_losses import *  # noqa: F403
from .convolution import *  # noqa: F403
from .ctc import *  # noqa: F403
from .dropout import *  # noqa: F403
from .folding import *  # noqa: F403
from .fractional import *  # noqa: F403
from .linear import *  # noqa: F403
from .losses import *  # noqa: F403
from .normalization import *  # noqa: F403
from .pads import *  # noqa: F403
from .pooling import *  # noqa: F403
from .resizing import *  # noqa: F403
from .rotary import *  # noqa: F403
from .sampling import *  # noqa: F403
