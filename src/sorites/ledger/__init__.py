"""Claims, verdicts, errata."""

from .claim import SCALES as SCALES
from .claim import Claim as Claim
from .claim import Erratum as Erratum
from .claim import Evidence as Evidence
from .claim import Scale as Scale
from .claim import verdict_of as verdict_of
from .comparison import Comparison as Comparison
from .comparison import at_least as at_least
from .comparison import at_most as at_most
from .comparison import equal as equal
from .comparison import interval_inside as interval_inside
from .comparison import sampled as sampled
from .comparison import shown as shown
from .comparison import worst as worst
from .domain import Among as Among
from .domain import Between as Between
from .domain import Domain as Domain
from .domain import Powers as Powers
from .domain import Real as Real
from .domain import Text as Text
from .verification import Verdict as Verdict
from .verification import alone as alone
from .verification import anywhere as anywhere
from .verification import override as override
from .verification import verify as verify
from .verification import verify_at as verify_at
