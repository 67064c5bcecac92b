"""The interfaces of XGBoost, LightGBM and CatBoost on this engine."""
