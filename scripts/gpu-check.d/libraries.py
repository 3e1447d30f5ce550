# Finds the CUDA libraries and tools that the bundle lacks, such as cuDNN and cuBLAS: in the CUDA
# toolkit, in the system's folders, or in Python packages beside PyTorch.
#
# Run as a program, with the bundle's folder, it prints the library path for the bundle's programs.
import glob
import os
import pathlib
import shutil
import site
import subprocess
import sys

# Patterns of the toolkits' folders. Of several versions, the last one by name takes precedence.
TOOLKITS = ["/usr/local/cuda", "/opt/cuda", "/usr/local/cuda-*", "/opt/cuda-*", "/opt/nvidia/cuda*"]
LIST_PACKAGES = (
    "import importlib.util as u; s = u.find_spec('nvidia'); "
    "print('\\n'.join(s.submodule_search_locations if s else []))"
)
REMEDIES = {
    "libcudnn": "cuDNN: install NVIDIA's package, or pip install nvidia-cudnn-cu{cuda}=={version}.*",
    "libcublasLt": "cuBLAS: install CUDA {version}, or pip install nvidia-cublas=={version}.*",
}


def folders_of_packages(python, names):
    """Returns folders of these names in NVIDIA's Python packages that this interpreter finds."""
    if python == sys.executable:
        roots = [os.path.join(path, "nvidia") for path in [*site.getsitepackages(), *sys.path]]
    else:
        asked = subprocess.run([python, "-c", LIST_PACKAGES], capture_output=True, text=True, check=False)
        roots = asked.stdout.splitlines()
    return [f for root in roots for name in names for f in sorted(glob.glob(f"{root}/*/{name}"))]


def folders_of_toolkits(names):
    """Returns folders of these names in toolkits: those of the environment, nvcc's, the usual ones."""
    given = ("CUDA_HOME", "CUDA_PATH", "CUDNN_HOME")
    roots = [os.environ[name] for name in given if os.environ.get(name)]
    compiler = shutil.which("nvcc")
    roots += [str(pathlib.Path(compiler).resolve().parent.parent)] if compiler else []
    roots += [root for pattern in TOOLKITS for root in sorted(glob.glob(pattern), reverse=True)]
    return [f"{root}/{name}" for root in roots for name in names]


def find_tool(name, python=sys.executable):
    """Returns the path of a program of the CUDA toolkit, possibly from its own folder; None if missing."""
    names = ["bin", name]
    folders = [*folders_of_toolkits(names), *folders_of_packages(python, names)]
    return shutil.which(name) or shutil.which(name, path=":".join(folders))


def library_path(root, python=sys.executable):
    """Returns LD_LIBRARY_PATH for the bundle's programs: its own, the caller's, Python's, the toolkit's."""
    given = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    toolkits = folders_of_toolkits(["lib64", "lib", "extras/CUPTI/lib64"])
    folders = [str(root / "lib"), *given, *folders_of_packages(python, ["lib"]), *toolkits]
    known = dict.fromkeys(folder for folder in folders if folder and os.path.isdir(folder))
    return ":".join(known)


def missing_libraries(program, path):
    """Returns the libraries that the loader does not find with this path."""
    command, environment = ["ldd", str(program)], {**os.environ, "LD_LIBRARY_PATH": path}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
    return [line.split()[0] for line in said.splitlines() if line.endswith("not found")]


def remedy(name):
    """Returns the remedy for a missing library such as libcudnn.so.9."""
    stem, _, version = name.partition(".so.")
    text = REMEDIES.get(stem, "install the package that has it")
    return f"{name} is missing; {text.format(version=version, cuda='13')}"


def main():
    root = pathlib.Path(sys.argv[1])
    path = library_path(root)
    missing = missing_libraries(root / "libexec/parbench", path)
    for name in missing:
        print(f"parbench: error: {remedy(name)}", file=sys.stderr)
    if missing:
        print("  LD_LIBRARY_PATH may name the folder that has it", file=sys.stderr)
    print(path)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
