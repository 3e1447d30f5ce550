# Compiler options of every target: warnings, sanitizers and ccache.
add_library(parbench_flags INTERFACE)
target_include_directories(parbench_flags INTERFACE ${PROJECT_SOURCE_DIR})
set(warnings
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Wold-style-cast
  # GCC 12 wrongly warns about overlapping or too long copies within std::string (GCC bug 105329).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict$<SEMICOLON>-Wno-array-bounds$<SEMICOLON>-Wno-stringop-overflow>
  $<$<BOOL:${PARBENCH_WARNINGS_AS_ERRORS}>:-Werror>)
target_compile_options(parbench_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${warnings}>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${PARBENCH_WARNINGS_AS_ERRORS}>>:-Werror=all-warnings>)

# PARBENCH_UNSANITIZED omits UBSan's checks of every pointer that is used, which take a fifth of the
# time of compiling. AddressSanitizer itself detects uses of null, of freed memory and outside of an
# object. Misaligned accesses are detected by the preset asan-ubsan-whole only, which omits no
# check.
if(PARBENCH_SANITIZE)
  target_compile_options(parbench_flags INTERFACE
    -fsanitize=${PARBENCH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(PARBENCH_UNSANITIZED)
    target_compile_options(parbench_flags INTERFACE -fno-sanitize=${PARBENCH_UNSANITIZED})
  endif()
  target_link_options(parbench_flags INTERFACE -fsanitize=${PARBENCH_SANITIZE})
endif()

# parbench_join_sources(<target>): compiles up to 12 C++ sources of a folder as one, or 8 CUDA sources.
# C++ folders with fewer than 4 sources of a target are joined with each other. This halves the time,
# most of which is spent on common headers. Names in anonymous namespaces must therefore be unique in
# a folder, and among small folders. Sources with their own options or
# SKIP_UNITY_BUILD_INCLUSION, and CUDA sources compiled for the host, stay separate. CMake's unity
# builds are not used because they name sources by absolute paths, with which ccache would not share
# objects between clones.
function(parbench_join_sources target)
  get_target_property(sources ${target} SOURCES)
  set(folders "")
  set(groups "")
  set(compiled "")
  foreach(source IN LISTS sources)
    set(own "")
    foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS GENERATED SKIP_UNITY_BUILD_INCLUSION)
      get_property(value SOURCE ${source} PROPERTY ${property})
      list(APPEND own ${value})
    endforeach()
    get_property(language SOURCE ${source} PROPERTY LANGUAGE)
    if(own OR NOT "${language}|${source}" MATCHES "^CXX[|].*[.]cpp$|^CUDA[|].*[.]cu$")
      list(APPEND compiled ${source})
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET source EXTENSION LAST_ONLY kind)
    list(APPEND folders ${folder}/*${kind})
    list(APPEND in_${folder}/*${kind} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    cmake_path(GET folder EXTENSION LAST_ONLY kind)
    set(group ${folder})
    list(LENGTH in_${folder} count)
    if(count LESS 4 AND kind STREQUAL .cpp)
      set(group small_folders/*${kind})
      list(APPEND in_${group} ${in_${folder}})
    endif()
    list(APPEND groups ${group})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    cmake_path(GET group EXTENSION LAST_ONLY kind)
    cmake_path(GET group PARENT_PATH path)
    list(LENGTH in_${group} count)
    set(limit 12)
    if(kind STREQUAL .cu)
      set(limit 8)
    endif()
    math(EXPR parts "(${count} + ${limit} - 1) / ${limit}")
    math(EXPR last "${count} - 1")
    foreach(index RANGE ${last})
      list(GET in_${group} ${index} source)
      math(EXPR part "${index} * ${parts} / ${count}")
      string(MAKE_C_IDENTIFIER ${path}_${part} name)
      string(APPEND name ${kind})
      string(APPEND text_${name} "#include \"${source}\"\n")
      list(APPEND names ${name})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES names)
  foreach(name IN LISTS names)
    set(joined ${CMAKE_CURRENT_BINARY_DIR}/joined/${target}/${name})
    file(CONFIGURE OUTPUT ${joined} CONTENT "${text_${name}}" @ONLY)
    list(APPEND compiled ${joined})
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${compiled}")
endfunction()

# Joins the sources of a target at the end of its CMakeLists.txt, when all are listed.
function(parbench_join_sources_at_end target)
  if(PARBENCH_JOIN_SOURCES)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL parbench_join_sources ${target})")
  endif()
endfunction()

# parbench_library(<target> [HOT] [HEADERS header…] [REUSE target]): sets how a library of the
# project is compiled.
#   HOT      for code that runs in measured parts: -O3; others use -O1, which compiles faster. With
#            sanitizers, only HOT code uses -O2, because tests spend most of their time there.
#   HEADERS  headers to precompile in addition to cmake/precompiled.h
#   REUSE    library with the same options, whose precompiled headers are used
function(parbench_library target)
  cmake_parse_arguments(ARG "HOT" "REUSE" "HEADERS" ${ARGN})
  if(NOT ARG_HOT)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  elseif(PARBENCH_SANITIZE)
    target_compile_options(${target} PRIVATE -O2)
  endif()
  if(ARG_REUSE)
    target_precompile_headers(${target} REUSE_FROM ${ARG_REUSE})
  else()
    target_precompile_headers(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:<cmake/precompiled.h$<ANGLE-R>> ${ARG_HEADERS})
  endif()
  parbench_join_sources_at_end(${target})
endfunction()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache needs these settings for precompiled headers, and to share objects with other clones of
  # the same sources. Increase the number in the namespace to ignore all stored objects: those of
  # namespace 1 contain paths of headers in clones that no longer exist.
  set(base_folder ${PROJECT_SOURCE_DIR})
  if(DEFINED ENV{CCACHE_BASEDIR})
    set(base_folder $ENV{CCACHE_BASEDIR})
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,$ENV{CCACHE_SLOPPINESS}
      CCACHE_BASEDIR=${base_folder} CCACHE_NAMESPACE=parbench-2 ${CCACHE_PROGRAM})
endif()
