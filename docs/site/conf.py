"""The documentation site: `make docs` builds it into docs/_build/html, warnings are errors, nothing is fetched."""

import sys
from importlib.metadata import version as installed
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import generate

generate.write()

project = "sorites"
author = "The sorites authors"
copyright = "2026, the sorites authors"
version = release = installed("sorites")

extensions = ["myst_nb", "sphinx_copybutton", "mathml"]
exclude_patterns = ["examples", "generated/tables", "generated/store", "generated/pictures", "generated/beside"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence", "attrs_inline"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
nitpicky = False

nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_excludepatterns = [] if find_spec("nnsight") else ["notebooks/nnsight.md"]  # shown without results
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_merge_streams = True
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "sphinx_book_theme"
html_title = "sorites"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["generated/beside"]  # the playground, as it is
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_navbar_depth": 1,
    "max_navbar_depth": 2,
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "home_page_in_toc": True,
    "navbar_persistent": [],
    "navigation_with_keys": False,
}
