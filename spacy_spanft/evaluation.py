"""When spaCy's training evaluates, so that the last model is among the evaluated."""

from typing import NamedTuple


class EvaluationSteps(NamedTuple):
    """The settings of spaCy's loop: evaluated is step 0, then every eval_frequency-th.

    eval_frequency (int): The steps from one evaluation to the next.
    n_steps (int): The step that training ends with ([training] max_steps), the first
        one being step 0; 0 if nothing ends it.
    """

    eval_frequency: int
    n_steps: int


def evaluation_steps(
    n_steps: int, steps_per_epoch: int, eval_frequency: int, *, can_grow: bool = True
) -> EvaluationSteps:
    """Fit evaluation into a training: at least once an epoch, and of the last step.

    It is never rarer than it was. The last step moves by less than the number of
    evaluations, as the frequency has to divide it.

    n_steps (int): The step that training ends with; 0 if nothing ends it.
    steps_per_epoch (int): The steps in an epoch.
    eval_frequency (int): The most steps from one evaluation to the next.
    can_grow (bool): Whether steps may be added. Where training ends with an epoch
        ([training] max_epochs), there are none, so that some are cut.
    RETURNS (EvaluationSteps): What fits.
    """
    longest = max(1, min(eval_frequency, steps_per_epoch))
    if n_steps <= 0:
        return EvaluationSteps(longest, 0)
    n_evaluations = -(-n_steps // longest)
    frequency = n_steps // n_evaluations
    if can_grow:
        frequency = -(-n_steps // n_evaluations)
    return EvaluationSteps(frequency, n_evaluations * frequency)
