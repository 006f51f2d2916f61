"""The site's own modules stand beside its pages."""

import sys
from pathlib import Path

SITE = Path(__file__).parents[2] / "docs" / "site"
sys.path.insert(0, str(SITE))
