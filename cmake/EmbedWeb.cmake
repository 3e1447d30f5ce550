# Builds the page's script with npm in a folder of the build, and writes style and script as a C++
# source. Run as a script:
#   NPM       the program; empty: no script
#   REQUIRED  ON: packages that cannot be fetched are an error, else a page without script
#   SOURCE    reports/web; WORK: where it is built; OUTPUT: the source that is written
function(run_in_work)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code
                  OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(code ${code} PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()

# Leaves `installed` true when the packages of the lock file are there.
function(install_packages)
  set(stamp ${WORK}/node_modules/.parbench-lock)
  file(SHA256 ${SOURCE}/package-lock.json wanted)
  if(EXISTS ${stamp})
    file(READ ${stamp} present)
    if(present STREQUAL wanted)
      set(installed TRUE PARENT_SCOPE)
      return()
    endif()
  endif()
  run_in_work(${NPM} ci --ignore-scripts --no-audit --no-fund --fetch-retries=1)
  if(code EQUAL 0)
    file(WRITE ${stamp} ${wanted})
    set(installed TRUE PARENT_SCOPE)
  elseif(REQUIRED STREQUAL ON)
    message(FATAL_ERROR "npm could not install the page's packages:\n${text}")
  else()
    message(WARNING "npm could not install the page's packages, so pages have no pictures; touch "
                    "reports/web/package.json to try again.\n${text}")
  endif()
endfunction()

function(build_script)
  foreach(step "tsc;--noEmit" "vite;build;--logLevel;warn")
    list(POP_FRONT step tool)
    run_in_work(${WORK}/node_modules/.bin/${tool} ${step})
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "${tool} failed in reports/web:\n${text}")
    endif()
  endforeach()
endfunction()

# A raw string takes any text but its own end.
function(read_for_raw_string file variable)
  file(READ ${file} content)
  string(FIND "${content}" ")parbench\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file} contains the end of a raw string: )parbench\"")
  endif()
  set(${variable} "${content}" PARENT_SCOPE)
endfunction()

set(script "")
if(NPM)
  file(MAKE_DIRECTORY ${WORK})
  file(REMOVE_RECURSE ${WORK}/src)
  foreach(entry src package.json package-lock.json .npmrc tsconfig.json vite.config.ts)
    file(COPY ${SOURCE}/${entry} DESTINATION ${WORK})
  endforeach()
  install_packages()
  if(installed)
    build_script()
    read_for_raw_string(${WORK}/dist/page.js script)
  endif()
endif()
read_for_raw_string(${SOURCE}/page.css style)
file(WRITE ${OUTPUT}
"// Written by cmake/EmbedWeb.cmake from reports/web.
#include \"reports/html.h\"

namespace parbench::report {

namespace {

constexpr char style[] = R\"parbench(${style})parbench\";
constexpr char script[] = R\"parbench(${script})parbench\";

}  // namespace

const WebAssets& built_in_web_assets() {
  static constexpr WebAssets assets{{style, sizeof style - 1}, {script, sizeof script - 1}};
  return assets;
}

}  // namespace parbench::report
")
