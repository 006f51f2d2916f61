"""Members on disk: trained once, found by what they are, whole or not there."""

from .archive import adopt as adopt
from .archive import export as export
from .catalogue import diff_runs as diff_runs
from .catalogue import list_runs as list_runs
from .catalogue import resolve as resolve
from .catalogue import show_run as show_run
from .catalogue import words as words
from .compaction import compact as compact
from .folder import Folder as Folder
from .identity import Identity as Identity
from .identity import checkpoint as checkpoint
from .identity import fingerprint as fingerprint
from .identity import identities as identities
from .identity import member_id as member_id
from .identity import spec_record as spec_record
from .inspection import Finding as Finding
from .inspection import check as check
from .inspection import mixtures as mixtures
from .origin import provenance as provenance
from .queries import query as query
from .spec import describe as describe
from .store import Store as Store
from .store import default_root as default_root
