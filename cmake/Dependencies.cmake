# Libraries that the project depends on, except CUDA (cmake/Cuda.cmake) and MPI (kernels/mpi). They
# are Debian packages (scripts/packages/packages.txt), except NVTX.
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(dnnl 2.6 REQUIRED CONFIG)  # not 3: docs/decisions/cpu-kernels.md
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc>=2.0)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(benchmark REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ONNX REQUIRED CONFIG)
if(PARBENCH_TESTS)
  find_package(GTest REQUIRED)
endif()

# NVTX is header-only; it is part of the CUDA toolkit, and scripts/nvtx fetches it alone. Without
# it, the program marks no ranges for profilers.
find_path(PARBENCH_NVTX_INCLUDE nvtx3/nvToolsExt.h
  HINTS ${PROJECT_SOURCE_DIR}/build/cuda-wheels/nvidia/cu13/include
        ${PROJECT_SOURCE_DIR}/build/nvtx/nvidia/cu13/include
  PATHS /usr/local/cuda/include)
if(PARBENCH_NVTX_INCLUDE)
  add_library(nvtx3 INTERFACE)
  target_include_directories(nvtx3 SYSTEM INTERFACE ${PARBENCH_NVTX_INCLUDE})
  target_compile_definitions(nvtx3 INTERFACE PARBENCH_NVTX)
  target_link_libraries(nvtx3 INTERFACE ${CMAKE_DL_LIBS})
endif()
