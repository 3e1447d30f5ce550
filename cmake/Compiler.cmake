# Warnings, sanitizers and ccache: what every target of the project is compiled with.
add_library(parbench_flags INTERFACE)
target_include_directories(parbench_flags INTERFACE ${PROJECT_SOURCE_DIR})
set(warnings
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Wold-style-cast
  # GCC 12 warns of copies within std::string that overlap or exceed an array, and is wrong (GCC's
  # bug 105329).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict$<SEMICOLON>-Wno-array-bounds$<SEMICOLON>-Wno-stringop-overflow>
  $<$<BOOL:${PARBENCH_WARNINGS_AS_ERRORS}>:-Werror>)
target_compile_options(parbench_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${warnings}>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${PARBENCH_WARNINGS_AS_ERRORS}>>:-Werror=all-warnings>)

if(PARBENCH_SANITIZE)
  target_compile_options(parbench_flags INTERFACE
    -fsanitize=${PARBENCH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(parbench_flags INTERFACE -fsanitize=${PARBENCH_SANITIZE})
endif()

# parbench_library(<target> [HOT] [HEADERS header…]): how a library of the project is compiled.
#   HOT      its code runs inside of what is measured: -O3; others take -O2, which compiles faster
#   HEADERS  to precompile beside cmake/precompiled.h
function(parbench_library target)
  cmake_parse_arguments(ARG "HOT" "" "HEADERS" ${ARGN})
  if(NOT ARG_HOT)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  target_precompile_headers(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/precompiled.h> ${ARG_HEADERS})
endfunction()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache needs these settings for precompiled headers, and to share objects with other clones of
  # the same sources.
  set(base_folder ${PROJECT_SOURCE_DIR})
  if(DEFINED ENV{CCACHE_BASEDIR})
    set(base_folder $ENV{CCACHE_BASEDIR})
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,$ENV{CCACHE_SLOPPINESS}
      CCACHE_BASEDIR=${base_folder} ${CCACHE_PROGRAM})
endif()
