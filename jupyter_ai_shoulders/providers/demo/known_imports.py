"""Names that everybody knows where to import from, and how packages are called.

Used by the skills to recognise a missing import.
"""

from __future__ import annotations

ALIASES = {
    "pd": "pandas",
    "np": "numpy",
    "plt": "matplotlib.pyplot",
    "sns": "seaborn",
    "mpl": "matplotlib",
    "sp": "scipy",
    "stats": "scipy.stats",
    "sm": "statsmodels.api",
    "smf": "statsmodels.formula.api",
    "xr": "xarray",
    "pl": "polars",
    "tf": "tensorflow",
    "nx": "networkx",
    "px": "plotly.express",
    "go": "plotly.graph_objects",
    "alt": "altair",
    "dt": "datetime",
    "gpd": "geopandas",
    "jnp": "jax.numpy",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "xgb": "xgboost",
    "lgb": "lightgbm",
    "dd": "dask.dataframe",
    "da": "dask.array",
    "pa": "pyarrow",
}
MODULES = frozenset(
    [
        "argparse",
        "bisect",
        "calendar",
        "collections",
        "copy",
        "csv",
        "datetime",
        "decimal",
        "fractions",
        "functools",
        "gc",
        "glob",
        "gzip",
        "hashlib",
        "heapq",
        "inspect",
        "io",
        "itertools",
        "json",
        "logging",
        "math",
        "operator",
        "os",
        "pathlib",
        "pickle",
        "platform",
        "pprint",
        "random",
        "re",
        "shutil",
        "sqlite3",
        "statistics",
        "string",
        "subprocess",
        "sys",
        "tempfile",
        "textwrap",
        "time",
        "traceback",
        "typing",
        "urllib",
        "uuid",
        "warnings",
        "zipfile",
        "zoneinfo",
        "altair",
        "bokeh",
        "cv2",
        "dask",
        "geopandas",
        "ipywidgets",
        "joblib",
        "jax",
        "keras",
        "lightgbm",
        "matplotlib",
        "networkx",
        "nltk",
        "numpy",
        "openpyxl",
        "pandas",
        "plotly",
        "polars",
        "pyarrow",
        "requests",
        "scipy",
        "seaborn",
        "skimage",
        "sklearn",
        "spacy",
        "statsmodels",
        "sympy",
        "tensorflow",
        "torch",
        "tqdm",
        "transformers",
        "xarray",
        "xgboost",
        "yaml",
    ]
)
MEMBERS: dict[str, str] = {
    **dict.fromkeys(
        ["train_test_split", "cross_val_score", "GridSearchCV", "RandomizedSearchCV", "KFold",
         "StratifiedKFold", "cross_validate", "cross_val_predict", "learning_curve"],
        "sklearn.model_selection",
    ),
    **dict.fromkeys(
        ["StandardScaler", "MinMaxScaler", "OneHotEncoder", "LabelEncoder", "OrdinalEncoder",
         "PolynomialFeatures", "RobustScaler", "FunctionTransformer"],
        "sklearn.preprocessing",
    ),
    **dict.fromkeys(
        ["LinearRegression", "LogisticRegression", "Ridge", "Lasso", "ElasticNet", "SGDClassifier"],
        "sklearn.linear_model",
    ),
    **dict.fromkeys(
        ["RandomForestClassifier", "RandomForestRegressor", "GradientBoostingClassifier",
         "GradientBoostingRegressor", "HistGradientBoostingClassifier",
         "HistGradientBoostingRegressor", "IsolationForest"],
        "sklearn.ensemble",
    ),
    **dict.fromkeys(
        ["accuracy_score", "confusion_matrix", "classification_report", "mean_squared_error",
         "mean_absolute_error", "r2_score", "roc_auc_score", "f1_score", "precision_score",
         "recall_score", "ConfusionMatrixDisplay", "roc_curve", "silhouette_score"],
        "sklearn.metrics",
    ),
    **dict.fromkeys(
        ["DecisionTreeClassifier", "DecisionTreeRegressor", "plot_tree"], "sklearn.tree"
    ),
    **dict.fromkeys(["KNeighborsClassifier", "KNeighborsRegressor"], "sklearn.neighbors"),
    **dict.fromkeys(["KMeans", "DBSCAN", "AgglomerativeClustering"], "sklearn.cluster"),
    **dict.fromkeys(["PCA", "TruncatedSVD", "NMF"], "sklearn.decomposition"),
    **dict.fromkeys(["Pipeline", "make_pipeline"], "sklearn.pipeline"),
    **dict.fromkeys(["ColumnTransformer", "make_column_transformer"], "sklearn.compose"),
    **dict.fromkeys(["SimpleImputer", "KNNImputer"], "sklearn.impute"),
    **dict.fromkeys(["SVC", "SVR", "LinearSVC"], "sklearn.svm"),
    **dict.fromkeys(["CountVectorizer", "TfidfVectorizer"], "sklearn.feature_extraction.text"),
    **dict.fromkeys(["DummyClassifier", "DummyRegressor"], "sklearn.dummy"),
    **dict.fromkeys(
        ["load_iris", "load_wine", "load_digits", "load_diabetes", "load_breast_cancer",
         "make_classification", "make_blobs", "make_regression", "fetch_openml",
         "fetch_california_housing"],
        "sklearn.datasets",
    ),
    **dict.fromkeys(
        ["Counter", "defaultdict", "OrderedDict", "deque", "namedtuple", "ChainMap"], "collections"
    ),
    **dict.fromkeys(["Path", "PurePath"], "pathlib"),
    **dict.fromkeys(["timedelta", "date", "timezone"], "datetime"),
    **dict.fromkeys(["partial", "reduce", "lru_cache", "cache", "wraps"], "functools"),
    **dict.fromkeys(
        ["chain", "product", "combinations", "permutations", "groupby", "islice", "pairwise"],
        "itertools",
    ),
    **dict.fromkeys(["dataclass"], "dataclasses"),
    **dict.fromkeys(["StringIO", "BytesIO"], "io"),
    **dict.fromkeys(["Fraction"], "fractions"),
    **dict.fromkeys(["Decimal"], "decimal"),
    **dict.fromkeys(["sqrt", "ceil", "floor", "pi", "isclose"], "math"),
    **dict.fromkeys(["sleep", "perf_counter"], "time"),
    **dict.fromkeys(["curve_fit", "minimize"], "scipy.optimize"),
    **dict.fromkeys(["tqdm"], "tqdm.auto"),
    **dict.fromkeys(["Any", "Callable", "Iterable", "Optional"], "typing"),
}  # fmt: skip
PACKAGE_NAMES = {
    "sklearn": "scikit-learn",
    "cv2": "opencv-python",
    "PIL": "Pillow",
    "skimage": "scikit-image",
    "yaml": "PyYAML",
    "bs4": "beautifulsoup4",
}


def import_for(name: str) -> str | None:
    """Return the import statement everybody would write for a name, if there is one."""
    if name in ALIASES:
        package, _, module = ALIASES[name].rpartition(".")
        if module == name:
            return f"from {package} import {module}"
        return f"import {ALIASES[name]} as {name}"
    if name in MEMBERS:
        return f"from {MEMBERS[name]} import {name}"
    return f"import {name}" if name in MODULES else None
