# Files that `cmake --install` installs, as the component parbench:
#   bin/parbench
#   lib/libparbench.so     all libraries of the project in one, for programs with their own scenarios
#   lib/libparbench-mpi.so the library that MPI launchers need, if the build found MPI
#   lib/cmake/parbench     find_package(parbench), which defines the target parbench::parbench
#   include/parbench       headers that a scenario needs, under their paths in the repository
# Reasons: docs/decisions/builds.md. Builds with sanitizers are for tests and are not installed.
if(PARBENCH_SANITIZE)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME parbench)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/parbench)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/parbench)

set(parts parbench_kernels parbench_cpu parbench_machine parbench_plan parbench_units parbench_onnx_file
          parbench_network parbench_scenarios
          parbench_web parbench_reports parbench_bench)
# The run path contains the folders of CUDA's libraries at link time, even within the project's
# folder.
set(library_folders "")
if(PARBENCH_HAS_CUDA)
  list(APPEND parts parbench_cuda)
  foreach(library ${PARBENCH_CUDNN_LIBRARY} ${PARBENCH_CUBLAS_LIBRARY})
    cmake_path(GET library PARENT_PATH folder)
    list(APPEND library_folders ${folder})
  endforeach()
endif()

# The shared library consists of all objects of the static libraries, because external scenarios use
# functions that no command uses. Objects are compiled once for both. Without
# -fno-semantic-interposition, GCC would not inline functions that another library could replace.
# Linking the static libraries adds the external libraries.
add_library(parbench_shared SHARED)
set(own_symbols -fno-semantic-interposition)
foreach(part IN LISTS parts)
  set_target_properties(${part} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${part} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${own_symbols}> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${own_symbols}>)
  target_sources(parbench_shared PRIVATE $<TARGET_OBJECTS:${part}>)
  target_link_libraries(parbench_shared PRIVATE ${part})
endforeach()
target_compile_features(parbench_shared INTERFACE cxx_std_20)
target_include_directories(parbench_shared INTERFACE $<INSTALL_INTERFACE:${headers}>)
set_target_properties(parbench_shared PROPERTIES
  OUTPUT_NAME parbench EXPORT_NAME parbench
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH "${library_folders}")

# ./parbench builds only bin/parbench, not the program that is installed.
install(CODE "
  if(NOT EXISTS \"$<TARGET_FILE:parbench_installed>\")
    message(FATAL_ERROR \"the package has not been built; run: cmake --build '${PROJECT_BINARY_DIR}'\")
  endif()")

# The program that is installed, which uses the shared library. The target's name must differ from
# the program's, because ninja would build it instead of bin/parbench.
add_executable(parbench_installed bench/main.cpp)
target_link_libraries(parbench_installed PRIVATE parbench_shared parbench_flags)
set_target_properties(parbench_installed PROPERTIES
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(PROGRAMS $<TARGET_FILE:parbench_installed> DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME parbench)
install(TARGETS parbench_shared EXPORT parbench LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(PARBENCH_HAS_MPI)
  add_dependencies(parbench_installed parbench_mpi)
  install(TARGETS parbench_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

install(EXPORT parbench NAMESPACE parbench:: FILE parbenchConfig.cmake DESTINATION ${package})
write_basic_package_version_file(parbenchConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/parbenchConfigVersion.cmake DESTINATION ${package})

# Headers of whole folders, which include only each other (arrows of docs/architecture.md), and two
# single headers.
foreach(folder kernels/base kernels/core kernels/ops scenarios/answers scenarios/framework scenarios/models
               scenarios/plan scenarios/recommendation scenarios/training)
  install(DIRECTORY ${folder}/ DESTINATION ${headers}/${folder} FILES_MATCHING PATTERN *.h)
endforeach()
install(FILES kernels/machine/machine.h DESTINATION ${headers}/kernels/machine)
install(FILES bench/program.h DESTINATION ${headers}/bench)
