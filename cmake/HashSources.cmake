# Writes a C++ source with the hash of all C++ sources below a folder. Run as a script:
#   SOURCE  the folder; OUTPUT: the source that is written
file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/*.cpp ${SOURCE}/*.h)
list(SORT sources)
set(hashes "")
foreach(source ${sources})
  file(SHA256 ${SOURCE}/${source} hash)
  string(APPEND hashes "${source} ${hash}\n")
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 16 hash)
file(WRITE ${OUTPUT}
"// Written by cmake/HashSources.cmake.
#include \"reports/dashboard/sources.h\"

namespace parbench::report {

std::string_view sources_id() { return \"${hash}\"; }

}  // namespace parbench::report
")
