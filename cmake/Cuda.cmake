# The CUDA backend: whether it is built, and its compiler and libraries. Both are searched in
# build/cuda-wheels (scripts/cuda-libraries unpacks PyPI's wheels there), then in the system.
set(PARBENCH_CUDA AUTO CACHE STRING "Build the CUDA backend: ON, OFF, or AUTO (where it can be)")
set_property(CACHE PARBENCH_CUDA PROPERTY STRINGS ON OFF AUTO)
set(PARBENCH_CUDA_WHEELS ${PROJECT_SOURCE_DIR}/build/cuda-wheels CACHE PATH "Folder of unpacked CUDA wheels")

option(PARBENCH_CUDA_STAND_IN "Tests only: run the CUDA backend on the host (tests/cuda_stand_in)" OFF)

set(PARBENCH_HAS_CUDA OFF CACHE INTERNAL "Whether the CUDA backend is built, for scripts/bundle")
if(NOT PARBENCH_CUDA)
  return()
endif()

set(toolkit ${PARBENCH_CUDA_WHEELS}/nvidia/cu13)
set(roots ${toolkit} ${PARBENCH_CUDA_WHEELS}/nvidia/cudnn ${PARBENCH_CUDA_WHEELS}
          $ENV{CUDA_HOME} $ENV{CUDNN_HOME} /usr/local/cuda)
find_program(PARBENCH_NVCC nvcc HINTS ${roots} PATH_SUFFIXES bin)
find_path(PARBENCH_CUDNN_INCLUDE cudnn.h HINTS ${roots} PATH_SUFFIXES include)
find_path(PARBENCH_CUDNN_FRONTEND_INCLUDE cudnn_frontend.h HINTS ${roots} PATH_SUFFIXES include)
find_path(PARBENCH_CUBLAS_INCLUDE cublasLt.h HINTS ${roots} PATH_SUFFIXES include)
find_path(PARBENCH_NVML_INCLUDE nvml.h HINTS ${roots} PATH_SUFFIXES include)
find_path(PARBENCH_CUPTI_INCLUDE cupti_activity.h HINTS ${roots}
          PATH_SUFFIXES include extras/CUPTI/include)
find_library(PARBENCH_CUDNN_LIBRARY cudnn HINTS ${roots} PATH_SUFFIXES lib lib64)
find_library(PARBENCH_CUBLAS_LIBRARY cublasLt HINTS ${roots} PATH_SUFFIXES lib lib64)

set(parts NVCC CUDNN_INCLUDE CUDNN_FRONTEND_INCLUDE CUBLAS_INCLUDE NVML_INCLUDE CUPTI_INCLUDE
          CUDNN_LIBRARY CUBLAS_LIBRARY)
set(missing)
foreach(part IN LISTS parts)
  if(NOT PARBENCH_${part})
    list(APPEND missing PARBENCH_${part})
  endif()
endforeach()
if(missing)
  list(JOIN missing ", " missing)
  set(text "CUDA backend not built; not found: ${missing}. scripts/cuda-libraries fetches all of it.")
  if(PARBENCH_CUDA STREQUAL AUTO)
    message(STATUS ${text})
    return()
  endif()
  message(FATAL_ERROR ${text})
endif()

if(PARBENCH_CUDA_STAND_IN)
  find_path(PARBENCH_CUDART_INCLUDE cuda_runtime_api.h HINTS ${roots} PATH_SUFFIXES include REQUIRED)
  find_path(PARBENCH_NCCL_INCLUDE nccl.h HINTS ${PARBENCH_CUDA_WHEELS}/nvidia/nccl ${roots}
            PATH_SUFFIXES include REQUIRED)
  set(PARBENCH_CUDA_HEADERS ${PARBENCH_CUDART_INCLUDE} ${PARBENCH_CUDNN_INCLUDE}
                            ${PARBENCH_CUBLAS_INCLUDE} ${PARBENCH_NVML_INCLUDE} ${PARBENCH_CUPTI_INCLUDE}
                            ${PARBENCH_NCCL_INCLUDE})
  set_property(CACHE PARBENCH_HAS_CUDA PROPERTY VALUE ON)
  add_library(parbench_cuda_libraries INTERFACE)
  target_include_directories(parbench_cuda_libraries SYSTEM INTERFACE ${PARBENCH_CUDA_HEADERS})
  target_link_libraries(parbench_cuda_libraries INTERFACE ${CMAKE_DL_LIBS})
  message(STATUS "CUDA backend: stand-in on the host, no figures")
  return()
endif()

# Architectures from Turing to Blackwell that this compiler supports; the newest also as PTX, for
# later GPUs.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND ${PARBENCH_NVCC} --list-gpu-arch OUTPUT_VARIABLE known)
  foreach(architecture 75 80 86 89 90 100 120)
    if(known MATCHES "compute_${architecture}\n")
      list(APPEND CMAKE_CUDA_ARCHITECTURES ${architecture}-real)
      set(newest ${architecture})
    endif()
  endforeach()
  list(REMOVE_ITEM CMAKE_CUDA_ARCHITECTURES ${newest}-real)
  list(APPEND CMAKE_CUDA_ARCHITECTURES ${newest})
endif()
set(CMAKE_CUDA_COMPILER ${PARBENCH_NVCC})
set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 lacks nvcc's flag
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit REQUIRED)
set_property(CACHE PARBENCH_HAS_CUDA PROPERTY VALUE ON)

# Headers and libraries for kernels/cuda. The driver's library is loaded at run time.
add_library(parbench_cuda_libraries INTERFACE)
target_include_directories(parbench_cuda_libraries SYSTEM INTERFACE
  ${PARBENCH_CUDNN_INCLUDE} ${PARBENCH_CUDNN_FRONTEND_INCLUDE} ${PARBENCH_CUBLAS_INCLUDE}
  ${PARBENCH_NVML_INCLUDE} ${PARBENCH_CUPTI_INCLUDE})
target_link_libraries(parbench_cuda_libraries INTERFACE
  ${PARBENCH_CUDNN_LIBRARY} ${PARBENCH_CUBLAS_LIBRARY} CUDA::cudart_static ${CMAKE_DL_LIBS})
message(STATUS "CUDA backend: ${PARBENCH_NVCC}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
