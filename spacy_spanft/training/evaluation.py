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
    n_steps: int, steps_per_epoch: int, eval_frequency: int, *, can_grow: bool
) -> EvaluationSteps:
    """Fit evaluation into a training: at least once an epoch, and of the last step.

    It is never rarer than it was. As the frequency has to divide the last step, that
    moves: by less than the number of evaluations where it can grow, by as little as a
    slightly higher frequency makes possible where it cannot.

    n_steps (int): The step that training ends with; 0 if nothing ends it.
    steps_per_epoch (int): The steps in an epoch.
    eval_frequency (int): The most steps from one evaluation to the next.
    can_grow (bool): Whether steps may be added. Where they may not, some are cut.
    RETURNS (EvaluationSteps): What fits.
    """
    longest = max(1, min(eval_frequency, steps_per_epoch))
    if n_steps <= 0:
        return EvaluationSteps(longest, 0)
    longest = min(longest, n_steps)
    if can_grow:
        n_evaluations = -(-n_steps // longest)
        frequency = -(-n_steps // n_evaluations)
        return EvaluationSteps(frequency, n_evaluations * frequency)
    near = range(longest, max(1, longest * 3 // 4) - 1, -1)
    frequency = min(near, key=lambda steps: n_steps % steps)
    return EvaluationSteps(frequency, n_steps - n_steps % frequency)
