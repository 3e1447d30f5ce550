// Searches a folder recursively.
#include "reports/dashboard/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "kernels/base/error.h"
#include "reports/io/file.h"

namespace parbench::report {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& folder, const std::string& why) {
  throw UsageError(fmt::format("'{}' {}; name a folder that holds reports", folder.string(), why));
}

void check_folder(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) refuse(folder, "does not exist");
  if (error) refuse(folder, "cannot be read: " + error.message());
  if (!fs::is_directory(status)) refuse(folder, "is not a folder");
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

}  // namespace

std::vector<std::string> find_reports(const fs::path& folder, const fs::path& except) {
  check_folder(folder);
  std::error_code error;
  std::vector<std::string> found;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                         error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;  // the file may have been deleted meanwhile
    if (entry->is_directory(ignored)) {
      if (is_hidden(*entry) || is_same_file(*entry, except)) entry.disable_recursion_pending();
      continue;
    }
    if (is_hidden(*entry) || entry->path().extension() != ".json") continue;
    found.push_back(entry->path().lexically_relative(folder).generic_string());
  }
  if (error) refuse(folder, "cannot be read: " + error.message());
  std::ranges::sort(found);
  return found;
}

}  // namespace parbench::report
