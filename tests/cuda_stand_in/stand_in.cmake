# Makes parbench_cuda one that runs on the host: CUDA's runtime library, cuBLASLt and cuDNN are replaced
# by the sources of this folder, and the project's kernels run in the emulation's grids. Included by
# kernels/cuda/CMakeLists.txt where PARBENCH_CUDA_STAND_IN is on; vendor headers are compiled against.
set(stand_in ${PROJECT_SOURCE_DIR}/tests/cuda_stand_in)
find_package(Boost 1.74 REQUIRED COMPONENTS context)

get_target_property(sources parbench_cuda SOURCES)
list(REMOVE_ITEM sources cudnn/cudnn_graph.cpp device_code/spin_kernel.cu runtime/dynamic_library.cpp)
set_target_properties(parbench_cuda PROPERTIES SOURCES "${sources}")
target_sources(parbench_cuda PRIVATE ${stand_in}/math/convolutions.cpp
  ${stand_in}/libraries.cpp ${stand_in}/spin.cpp)
list(FILTER sources INCLUDE REGEX "[.]cu$")
set(grid ${PROJECT_SOURCE_DIR}/tests/cuda_emulation/grid.cpp)
set_source_files_properties(${sources} PROPERTIES LANGUAGE CXX)
set_source_files_properties(device_code/fill_kernels.cu PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
if(PARBENCH_SANITIZE MATCHES address)
  set_source_files_properties(${grid} PROPERTIES
    COMPILE_OPTIONS "-O2;-fno-sanitize=all" COMPILE_DEFINITIONS PARBENCH_ANNOUNCE_STACKS)
endif()
# `#pragma unroll` is nvcc's.
set_property(SOURCE ${sources} ${grid} APPEND PROPERTY COMPILE_OPTIONS
  -Wno-unknown-pragmas -include ${stand_in}/include/device_code.h)

add_library(parbench_cuda_stand_in STATIC
  ${stand_in}/math/batch_norm.cpp ${stand_in}/math/blas.cpp
  ${stand_in}/capture.cpp ${stand_in}/contexts.cpp ${stand_in}/cupti.cpp
  ${stand_in}/math/dnn.cpp ${stand_in}/driver.cpp ${stand_in}/errors.cpp ${stand_in}/events.cpp
  ${stand_in}/memory.cpp ${stand_in}/nccl/functions.cpp ${stand_in}/nccl/tasks.cpp ${stand_in}/nvml.cpp
  ${stand_in}/objects.cpp ${stand_in}/streams.cpp
  ${PROJECT_SOURCE_DIR}/tests/cuda_emulation/plain_lstm.cpp ${grid}
  ${PROJECT_SOURCE_DIR}/tests/kernels/cuda/nvml_stand_in.cpp)
target_link_libraries(parbench_cuda_stand_in
  PUBLIC parbench_kernels PRIVATE Boost::context Threads::Threads)
foreach(target IN ITEMS parbench_cuda parbench_cuda_stand_in)
  target_include_directories(${target} BEFORE PRIVATE ${stand_in}/include)
  target_include_directories(${target} SYSTEM PRIVATE ${PARBENCH_CUDA_HEADERS})
endforeach()
target_link_libraries(parbench_cuda PUBLIC parbench_cuda_stand_in)
