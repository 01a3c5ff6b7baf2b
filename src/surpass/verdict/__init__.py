"""What the harness concludes about a submission. Candidate code never runs where this package runs."""

from surpass.verdict.calibrate import LadderCalibration, PairRun, source_of, summarise
from surpass.verdict.calibrate import calibrate as calibrate_ladder
from surpass.verdict.candidate import candidate_environment, candidate_limits, rejection_of
from surpass.verdict.data import TierData, hidden_seed
from surpass.verdict.errors import PreparationError, VerdictError
from surpass.verdict.judge import Judge, scorecard_of
from surpass.verdict.records import Outcome, Rejection, Timings, Verdict
from surpass.verdict.seal import Seal, digest_folder
from surpass.verdict.stage import DATA, WORKSPACE, judge_solution, stage_solution, workspace_mounts

__all__ = [
    "DATA",
    "WORKSPACE",
    "Judge",
    "LadderCalibration",
    "Outcome",
    "PairRun",
    "PreparationError",
    "Rejection",
    "Seal",
    "TierData",
    "Timings",
    "Verdict",
    "VerdictError",
    "calibrate_ladder",
    "candidate_environment",
    "candidate_limits",
    "digest_folder",
    "hidden_seed",
    "judge_solution",
    "rejection_of",
    "scorecard_of",
    "source_of",
    "stage_solution",
    "summarise",
    "workspace_mounts",
]
