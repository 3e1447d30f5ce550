# The install component gpu-check: files that scripts/gpu-check needs and scripts/bundle packs.
# `cmake --install` omits it unless it is named:
#   bin/       a script for users that finds the libraries and runs libexec/parbench
#   libexec/   the programs, without a run path; libexec/tests: tests that matter on a GPU, with the
#              stand-ins for libraries that they load
#   lib/       shared libraries that a CUDA machine lacks
#   scripts/   gpu-check with its parts and shared modules
# The other machine provides the C and C++ libraries (glibc 2.34 and GCC 12's libstdc++ or newer),
# the driver, cuDNN and cuBLAS.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME gpu-check)

install(TARGETS parbench parbench-peers RUNTIME_DEPENDENCY_SET gpu_check_libraries
        RUNTIME DESTINATION libexec EXCLUDE_FROM_ALL)
if(TARGET parbench_mpi)
  install(TARGETS parbench_mpi LIBRARY DESTINATION libexec EXCLUDE_FROM_ALL)
endif()
if(TARGET parbench-smoke)
  install(TARGETS parbench-smoke RUNTIME_DEPENDENCY_SET gpu_check_libraries
          RUNTIME DESTINATION libexec EXCLUDE_FROM_ALL)
  set(gpu_check_smoke parbench-smoke)
endif()
foreach(test IN ITEMS kernels_test runtime_test cuda_host_test measurement_tests
                      training_test scenario_tests cpu_cases_test)
  if(TARGET ${test})
    install(TARGETS ${test} RUNTIME_DEPENDENCY_SET gpu_check_libraries
            RUNTIME DESTINATION libexec/tests EXCLUDE_FROM_ALL)
    list(APPEND gpu_check_tests ${test})
  endif()
endforeach()
get_property(stand_ins GLOBAL PROPERTY PARBENCH_STAND_INS)
if(stand_ins)
  install(TARGETS ${stand_ins} LIBRARY DESTINATION libexec/tests/stand-ins EXCLUDE_FROM_ALL)
endif()
install(RUNTIME_DEPENDENCY_SET gpu_check_libraries
        PRE_EXCLUDE_REGEXES "^lib(cuda|cudart|cudnn|cublas|cublasLt|nvrtc|nccl)[.-]" "^libcudnn_"
                            "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so"
        LIBRARY DESTINATION lib EXCLUDE_FROM_ALL)

install(PROGRAMS scripts/gpu-check DESTINATION scripts EXCLUDE_FROM_ALL)
install(FILES scripts/lib.sh DESTINATION scripts EXCLUDE_FROM_ALL)
install(PROGRAMS scripts/gpu-check.d/parbench DESTINATION bin EXCLUDE_FROM_ALL)
install(DIRECTORY scripts/gpu-check.d scripts/lib DESTINATION scripts EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.py")

add_custom_target(gpu-check-programs DEPENDS parbench parbench-peers ${gpu_check_smoke} ${gpu_check_tests} ${stand_ins})
if(TARGET script_test_programs)
  add_dependencies(script_test_programs gpu-check-programs)
endif()
