"""Runs in the tab (`./build.sh wheel`), as pyodide-build and the wheel's bytecode need Pyodide's own Python.

Arguments: the wheel, Pyodide's lock file and the recipe. Leaves in /out: the byte-compiled wheel, and the lock file
with an entry for it. Only pyodide-build and pyodide-lock do the work here.
"""

import shutil
import sys
from pathlib import Path

from pyodide_build._py_compile import _py_compile_archive
from pyodide_build.recipe.spec import MetaConfig
from pyodide_lock import PyodideLockSpec
from pyodide_lock.utils import add_wheels_to_spec, update_package_sha256

wheel, lock, recipe = map(Path, sys.argv[1:])

package = MetaConfig.from_yaml(recipe).package
assert wheel.name.startswith(f"{package.name}-{package.version}-"), (
    f"{recipe} is of {package.version}, not {wheel.name}"
)
print(f"recipe of {package.name} {package.version}: valid")

source = Path("/tmp") / wheel.name
shutil.copy(wheel, source)
compiled = _py_compile_archive(source, verbose=False)
assert compiled is not None
shutil.copy(compiled, "/out")

# The entry is that of the pure wheel; then, as pyodide-build does for its own packages, it names the compiled one.
spec = add_wheels_to_spec(PyodideLockSpec.from_json(lock), [source])
entry = spec.packages["tabgpu"]
entry.file_name = compiled.name
update_package_sha256(entry, compiled)
spec.to_json(Path("/out/pyodide-lock.json"), indent=1)
print(f"{compiled.name}: {compiled.stat().st_size / 1e3:.0f} kB, depends on {', '.join(entry.depends)}")
