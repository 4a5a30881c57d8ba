"""`coursekit`: the small package that the course uses and teaches from.

Read it in this order: `errors`, `rng`, `initializers`, `autodiff`, `normalization`,
`parameters`, `layers`, `measure`, `report`. Importing it loads NumPy and nothing heavier;
figures, explorers and the notebook tools load when they are asked for.
"""

__version__ = "0.1.0"
