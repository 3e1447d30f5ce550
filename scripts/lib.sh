# Functions of the launcher and the scripts: packages, configuration and build. Sourced by bash,
# with `set -euo pipefail` and the repository's root in $root.
# shellcheck shell=bash
: "${root:?is the root of the repository}"

say() { printf 'parbench: %s\n' "$1" >&2; }

# fail MESSAGE [HINT…]: ends because something could not run, with the exit code for bad usage.
fail() {
  printf 'parbench: error: %s\n' "$1" >&2
  shift
  (($# == 0)) || printf '  %s\n' "$@" >&2
  exit 2
}

# Prints the comment at the top of a script as its help page.
show_help() { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; }

# help_if_asked "$@": with -h or --help first, shows the help page and ends.
help_if_asked() {
  [[ ${1:-} == -h || ${1:-} == --help ]] || return 0
  show_help
  exit 0
}

# Takes the lock under which one process at a time installs and builds. Waits for another process,
# for at most PARBENCH_LOCK_SECONDS.
take_lock() {
  if ! { mkdir -p "$root/build" && : >>"$root/build/.lock"; } 2>/dev/null; then
    fail "cannot write to $root/build" "clone the repository to a folder that you own"
  fi
  exec 9>"$root/build/.lock"
  flock -n 9 && return
  say "waiting for another build in $root"
  flock -w "${PARBENCH_LOCK_SECONDS:-1800}" 9 ||
    fail "another build in $root did not end in time" "PARBENCH_LOCK_SECONDS=N waits longer"
}

release_lock() { exec 9>&-; }

# Prints packages of the lists that are not installed, one per line. Packages provided by others count as
# installed: some sources' nodejs provides npm and conflicts with a package of that name.
missing_packages() {
  local -A installed=()
  local package status provided
  while read -r package status provided; do
    [[ $status == installed ]] || continue
    installed[$package]=1
    for package in ${provided//,/ }; do installed[$package]=1; done
  done < <(dpkg-query -W -f '${Package} ${db:Status-Status} ${Provides}\n' 2>/dev/null)
  while read -r package; do
    [[ -z $package || $package == \#* || -n ${installed[$package]:-} ]] || printf '%s\n' "$package"
  done < <(cat "$@")
}

# Runs a command as root. Fails if neither root nor sudo is available.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "installing packages needs root or sudo" "run as root: $*"
  fi
}

install_packages() {
  local packages=("$@")
  if ! command -v apt-get >/dev/null; then
    fail "these Debian packages are missing, and there is no apt-get: ${packages[*]}" \
      "install the same libraries with this system's package manager, or use Debian 12"
  fi
  if [[ ${PARBENCH_NO_INSTALL:-0} == 1 ]]; then
    fail "these Debian packages are missing: ${packages[*]}" \
      "install them: apt-get install ${packages[*]}" \
      "or run again without PARBENCH_NO_INSTALL=1"
  fi
  say "installing Debian packages: ${packages[*]}"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
    as_root "${apt[@]}" update >&2 || fail "apt-get could not update the package lists"
  fi
  if ! as_root "${apt[@]}" install -y --no-install-recommends "${packages[@]}" >&2; then
    say "trying again with new package lists"
    if ! { as_root "${apt[@]}" update &&
      as_root "${apt[@]}" install -y --no-install-recommends "${packages[@]}"; } >&2; then
      fail "apt-get could not install: ${packages[*]}" "its messages are above"
    fi
  fi
}

# need_packages LIST…: installs lists of scripts/packages/. A stamp newer than all lists skips the check.
need_packages() {
  local name lists=() stamp="$root/build/.packages" fresh=1
  for name in "$@"; do
    lists+=("$root/scripts/packages/$name")
    stamp+="-${name%.txt}"
  done
  for name in "${lists[@]}" "$root/scripts/lib.sh"; do
    [[ $stamp -nt $name ]] || fresh=0
  done
  ((fresh == 0)) || return 0
  if ! command -v dpkg-query >/dev/null; then
    mapfile -t missing < <(cat "${lists[@]}" | grep -v '^#')
  else
    mapfile -t missing < <(missing_packages "${lists[@]}")
  fi
  ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
  : >"$stamp"
}

# Makes the next run check the packages again, after a failure.
forget_packages() { rm -f "$root"/build/.packages*; }

# fetch_wheels FOLDER LIST [pip's options]: unpacks packages from PyPI that LIST pins by hash.
fetch_wheels() {
  local target=$1 list=$2
  shift 2
  rm -rf "$target"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
    --target "$target" --no-deps --no-compile --require-hashes --only-binary=:all: "$@" \
    -r "$list" >&2
}

# need_wheels NAME: fetches scripts/packages/NAME-wheels.txt into build/NAME-wheels, once for each version of
# the list.
need_wheels() {
  local list=$root/scripts/packages/$1-wheels.txt target=$root/build/$1-wheels
  ! cmp -s "$list" "$target/.wheels" || return 0
  say "fetching the wheels of $list into $target"
  fetch_wheels "$target" "$list" ||
    fail "pip could not fetch the wheels of $list" "its messages are above"
  cp "$list" "$target/.wheels"
}

# offer_wheels NAME WHAT: fetches wheels as need_wheels does, but without pip or network only
# reports WHAT is skipped.
offer_wheels() {
  local list=$root/scripts/packages/$1-wheels.txt target=$root/build/$1-wheels
  ! cmp -s "$list" "$target/.wheels" || return 0
  if [[ ${PARBENCH_NO_INSTALL:-0} == 1 ]]; then
    say "PARBENCH_NO_INSTALL=1 keeps the wheels of $list from being fetched, so $2"
  elif ! python3 -m pip --version &>/dev/null; then
    say "without pip (python3-pip) the wheels of $list cannot be fetched, so $2"
  elif fetch_wheels "$target" "$list" --retries 1 --timeout 10 2>/dev/null; then
    cp "$list" "$target/.wheels"
  else
    rm -rf "$target"
    say "pip could not fetch the wheels of $list, so $2"
  fi
}

# Options of pip to fetch packages for x86-64, independent of this machine and its Python.
for_x86_64=(--python-version 3.11 --implementation cp)
for tag in manylinux_2_28 manylinux_2_27 manylinux_2_25 manylinux_2_18 manylinux_2_17 manylinux2014 \
  manylinux_2_12 manylinux2010 manylinux_2_5 manylinux1; do
  for_x86_64+=(--platform "${tag}_x86_64")
done

# fetch_nvtx [pip's options]: fetches NVTX's headers, which are portable, into build/nvtx, once for
# each version that scripts/packages/cuda-wheels.txt pins.
fetch_nvtx() {
  local target=$root/build/nvtx pin
  pin=$(grep '^nvidia-nvtx==' "$root/scripts/packages/cuda-wheels.txt")
  [[ $(cat "$target/.wheels" 2>/dev/null) != "$pin" ]] || return 0
  fetch_wheels "$target" <(printf '%s\n' "$pin") "${for_x86_64[@]}" "$@" || return 1
  printf '%s\n' "$pin" >"$target/.wheels"
}

# Tries to fetch NVTX (0.1 MB). Not an error without pip or network: the build then has no ranges.
offer_nvtx() {
  [[ ${PARBENCH_NO_INSTALL:-0} != 1 && ! -e $root/build/cuda-wheels/.wheels ]] || return 0
  python3 -m pip --version &>/dev/null || return 0
  fetch_nvtx --retries 0 --timeout 5 2>/dev/null ||
    say "NVTX's headers could not be fetched, so the build has no ranges; scripts/nvtx tries again"
}

# use_python_lib: lets Python programs import the shared modules of scripts/lib.
use_python_lib() { export PYTHONPATH="$root/scripts/lib${PYTHONPATH:+:$PYTHONPATH}"; }

# Drops the build folder of a copied or moved clone, which would continue to build the original.
drop_foreign_build() {
  local cache="$1/CMakeCache.txt"
  [[ -f $cache ]] || return 0
  ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" || return 0
  say "$1 belongs to another folder; building from scratch"
  rm -rf "$1"
}

# Returns whether a build was configured without MPI and MPI is available now.
lacks_new_mpi() {
  ! grep -q '^PARBENCH_MPI:STRING=OFF$' "$1/CMakeCache.txt" &&
    grep -q '^MPI_CXX_COMPILER:FILEPATH=.*-NOTFOUND$' "$1/CMakeCache.txt" && command -v mpicxx >/dev/null
}

# Returns whether a build was configured after the latest change of presets and fetched libraries.
is_configured() {
  [[ -f $1/build.ninja && $1/build.ninja -nt $root/CMakePresets.json ]] &&
    ! lacks_new_mpi "$1" &&
    ! [[ $root/build/cuda-wheels/.wheels -nt $1/build.ninja ]] &&
    ! [[ $root/build/nvtx/.wheels -nt $1/build.ninja ]]
}

# configure PRESET TESTS(ON|OFF|any): runs cmake only if ninja would not do so itself.
configure() {
  local preset=$1 tests=$2 build="$root/build/$1" arguments=()
  drop_foreign_build "$build"
  if is_configured "$build"; then
    [[ $tests == ON ]] || return 0
    ! grep -q '^PARBENCH_TESTS:BOOL=ON' "$build/CMakeCache.txt" || return 0
  fi
  [[ $tests == any && -f $build/CMakeCache.txt ]] || arguments+=("-DPARBENCH_TESTS=${tests/any/OFF}")
  offer_nvtx
  say "configuring $build"
  mkdir -p "$build"
  if ! (cd "$root" && cmake --preset "$preset" "${arguments[@]}") >"$build/configure.log" 2>&1; then
    cat "$build/configure.log" >&2
    forget_packages
    fail "cmake could not configure $build" "its messages are above"
  fi
}

# Writes build/sources/compile_commands.json. That build never runs, so ninja checks whether its lists
# of sources are up to date.
configure_sources() {
  configure sources ON
  ninja -C "$root/build/sources" build.ninja >"$root/build/sources/configure.log" 2>&1 ||
    fail "cmake could not configure $root/build/sources" "$(cat "$root/build/sources/configure.log")"
}

# build PRESET TARGET: builds a target; silent if it is up to date.
build() {
  local directory="$root/build/$1" target=$2
  [[ $(ninja -C "$directory" -n "$target" 2>&1) != *"no work to do"* ]] || return 0
  say "building $target in $directory"
  if ! ninja -C "$directory" "$target" >&2; then
    forget_packages
    fail "the build failed" "the compiler's messages are above"
  fi
}

# Exports the measured commit for reports; a clone without git has none.
export_commit() {
  local commit changes
  unset PARBENCH_COMMIT PARBENCH_DIRTY PARBENCH_COMMIT_SUBJECT PARBENCH_COMMIT_AUTHOR
  if commit=$(git -C "$root" rev-parse HEAD 2>/dev/null) &&
    changes=$(git -C "$root" status --porcelain --untracked-files=no 2>/dev/null); then
    export PARBENCH_COMMIT=$commit PARBENCH_DIRTY=$((${#changes} > 0))
    { read -r PARBENCH_COMMIT_SUBJECT && read -r PARBENCH_COMMIT_AUTHOR; } \
      < <(git -C "$root" log -1 --format='%s%n%an') || true
    export PARBENCH_COMMIT_SUBJECT PARBENCH_COMMIT_AUTHOR
  fi
}

# import_commit FILE: exports the commit from the file that `stage` has written, for programs copied
# away from the repository.
import_commit() {
  local commit changes
  [[ -f $1 ]] && read -r commit changes <"$1" || return 0
  export PARBENCH_COMMIT=$commit PARBENCH_DIRTY=$changes
}

# stage BUILD FOLDER [cmake's arguments]: copies the files of cmake/GpuCheck.cmake, and the commit.
stage() {
  local build=$1 folder=$2 said
  shift 2
  if ! said=$(cmake --install "$build" --component gpu-check --prefix "$folder" "$@" 2>&1); then
    fail "cmake could not copy the programs of $build to $folder" "$said"
  fi
  export_commit
  printf '%s %s\n' "${PARBENCH_COMMIT:-}" "${PARBENCH_DIRTY:-}" >"$folder/commit"
}

# Lets clones of the repository share ccache's compilations, whatever their paths.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
