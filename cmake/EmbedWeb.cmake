# Builds the scripts of page and site with npm in a folder of the build, and writes styles and
# scripts to a C++ source. Run by `cmake -P` with these variables:
#   NPM       path of npm; if empty, pages have no script
#   REQUIRED  ON: fails if npm cannot fetch the packages; otherwise pages then have no script
#   SOURCE    reports/web
#   WORK      folder in which npm runs
#   OUTPUT    path of the C++ source
function(run_in_work)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code
                  OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(code ${code} PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()

# Installs the packages of the lock file unless they are installed. Sets `installed` to true if this
# succeeds.
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

function(build_scripts)
  foreach(step "tsc;--noEmit" "vite;build;--mode;page;--logLevel;warn"
               "vite;build;--mode;site;--logLevel;warn")
    list(POP_FRONT step tool)
    run_in_work(${WORK}/node_modules/.bin/${tool} ${step})
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "${tool} failed in reports/web:\n${text}")
    endif()
  endforeach()
endfunction()

# Reads a file that is embedded in a raw string literal, whose end it must not contain.
function(read_for_raw_string file variable)
  file(READ ${file} content)
  string(FIND "${content}" ")parbench\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file} contains the end of a raw string: )parbench\"")
  endif()
  set(${variable} "${content}" PARENT_SCOPE)
endfunction()

set(page_script "")
set(site_script "")
if(NPM)
  file(MAKE_DIRECTORY ${WORK})
  file(REMOVE_RECURSE ${WORK}/src)
  foreach(entry src package.json package-lock.json .npmrc tsconfig.json vite.config.ts)
    file(COPY ${SOURCE}/${entry} DESTINATION ${WORK})
  endforeach()
  install_packages()
  if(installed)
    build_scripts()
    read_for_raw_string(${WORK}/dist/page.js page_script)
    read_for_raw_string(${WORK}/dist/site.js site_script)
  endif()
endif()
read_for_raw_string(${SOURCE}/page.css page_style)
read_for_raw_string(${SOURCE}/site.css site_style)
file(WRITE ${OUTPUT}
"// Written by cmake/EmbedWeb.cmake from reports/web.
#include \"reports/views/html/html.h\"

namespace parbench::report {

namespace {

constexpr char page_style[] = R\"parbench(${page_style})parbench\";
constexpr char page_script[] = R\"parbench(${page_script})parbench\";
constexpr char site_style[] = R\"parbench(${page_style}${site_style})parbench\";
constexpr char site_script[] = R\"parbench(${site_script})parbench\";

}  // namespace

const WebAssets& built_in_web_assets() {
  static constexpr WebAssets assets{{page_style, sizeof page_style - 1},
                                    {page_script, sizeof page_script - 1}};
  return assets;
}

const WebAssets& built_in_site_assets() {
  static constexpr WebAssets assets{{site_style, sizeof site_style - 1},
                                    {site_script, sizeof site_script - 1}};
  return assets;
}

}  // namespace parbench::report
")
