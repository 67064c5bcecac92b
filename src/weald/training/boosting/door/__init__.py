"""From parameters to a plan: the one door between what users say and the engine."""

from weald.training.boosting.door.plan_of import Facts, plan_of

__all__ = ["Facts", "plan_of"]
