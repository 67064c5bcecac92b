"""What the interfaces of other systems share: `weald.xgboost` and `weald.lightgbm` translate, and delegate through this."""
