"""The modules of the site and of bench/ stand beside their pages and scripts."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))
sys.path.append(str(ROOT / "bench"))
