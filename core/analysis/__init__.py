"""Maps of whole computations, composed from the maps of their instructions."""

from .catalogue import OpCatalogue as OpCatalogue
from .catalogue import OpMaps as OpMaps
from .dependence import NoMap as NoMap
from .dependence import Reads as Reads
from .maps import ComputationMaps as ComputationMaps
from .maps import ModuleMaps as ModuleMaps
from .steps import AnalysisStep as AnalysisStep
from .steps import CompositionStep as CompositionStep
from .steps import EvaluationStep as EvaluationStep
from .steps import FollowStep as FollowStep
from .steps import MaskStep as MaskStep
from .steps import MergeStep as MergeStep
from .steps import OperandStep as OperandStep
from .steps import Options as Options
from .steps import UnrollingStep as UnrollingStep
