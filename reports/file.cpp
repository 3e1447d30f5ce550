// Atomic writing and bounded reading of report files.
#include "reports/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "kernels/error.h"

namespace parbench::report {
namespace {

namespace fs = std::filesystem;

std::string words(int error) { return std::generic_category().message(error); }

/// The directory that a file is in; "." for a bare name.
fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// A new file in a directory, removed again unless it was moved to its place.
class TemporaryFile {
 public:
  /// Leaves `error()` set when the file cannot be made.
  explicit TemporaryFile(const fs::path& directory) {
    static std::atomic<unsigned> count{0};
    do {
      path_ = directory / fmt::format(".parbench-{}-{}.tmp", ::getpid(), count++);
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
    made_ = descriptor_ >= 0;
    error_ = made_ ? 0 : errno;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (made_) ::unlink(path_.c_str());
  }

  [[nodiscard]] int error() const { return error_; }

  void write(std::string_view text) {
    while (error_ == 0 && !text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written >= 0) {
        text.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
  }

  void move_to(const fs::path& target) {
    check(::fsync(descriptor_));
    if (descriptor_ >= 0) check(::close(std::exchange(descriptor_, -1)));
    if (error_ == 0) check(::rename(path_.c_str(), target.c_str()));
    if (error_ == 0) made_ = false;
  }

 private:
  void check(int result) {
    if (result != 0 && error_ == 0) error_ = errno;
  }

  fs::path path_;
  int descriptor_ = -1;
  int error_ = 0;
  bool made_ = false;  // and still at its own path
};

/// Makes a rename in the directory survive a power cut. File systems that cannot do it say so, and
/// there is nothing better to be done then.
void flush_directory(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

/// Where the file really is, so that a rename does not replace a symbolic link by a file.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

bool lies_in(const fs::path& directory, const fs::path& parent) {
  const fs::path inner = fs::absolute(directory).lexically_normal();
  const fs::path outer = fs::absolute(parent / "").lexically_normal().parent_path();
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

[[noreturn]] void refuse(const fs::path& path, std::string_view why) {
  throw UsageError(fmt::format("{} cannot be written: {}", path.string(), why));
}

void provide_directory(const fs::path& path, const fs::path& default_directory) {
  const fs::path directory = directory_of(path);
  std::error_code error;
  if (fs::is_directory(directory, error)) return;
  if (error && error != std::errc::no_such_file_or_directory) {
    refuse(path, fmt::format("{}: {}", directory.string(), error.message()));
  }
  if (fs::exists(directory, error)) {
    refuse(path, fmt::format("{} is not a directory; choose another path", directory.string()));
  }
  if (!lies_in(directory, default_directory)) {
    refuse(path, fmt::format("the directory {0} does not exist; make it first: mkdir -p {0}",
                             directory.string()));
  }
  fs::create_directories(directory, error);
  if (error) {
    refuse(path, fmt::format("the directory {} cannot be made: {}; choose another path",
                             directory.string(), error.message()));
  }
}

void check_replaceable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return;
  if (status.type() == fs::file_type::none) {
    refuse(path, fmt::format("{}; choose another path", error.message()));
  }
  if (fs::is_directory(status)) {
    refuse(path, "it is a directory; add a file name, for example report.json");
  }
  if (!fs::is_regular_file(status)) {
    refuse(path, "it is a device, pipe or socket and not a file; choose another path");
  }
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
    refuse(path, fmt::format("the file is there and cannot be replaced: {}; choose another path",
                             words(errno)));
  }
}

/// The parser's words without its error number and without long quotations of the file.
std::string brief(std::string_view what) {
  if (const std::size_t id = what.find("] "); id != std::string_view::npos) {
    what.remove_prefix(id + 2);
  }
  constexpr std::size_t enough = 160;
  return what.size() <= enough ? std::string(what) : std::string(what.substr(0, enough)) + "…";
}

/// Counts what the parser meets and stops it at a limit, or at a key that its object has already:
/// the parser would forget the first value.
class Guard {
 public:
  Guard(const fs::path& path, const ReadLimits& limits) : path_(path), limits_(limits) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key) check_first(parsed.get_ref<const std::string&>());
    if (event == Event::object_end || event == Event::array_end) return true;
    check_limits(depth);
    return true;
  }

 private:
  void check_first(const std::string& key) {
    if (keys_.back().insert(key).second) return;
    throw UsageError(fmt::format("{}: has the key '{}' twice in one object; keep one",
                                 path_.string(), brief(key)));
  }

  void check_limits(int depth) {
    if (depth > limits_.depth) {
      throw UsageError(
          fmt::format("{}: lists and objects lie deeper than {} levels in one another: this is no "
                      "file of parbench",
                      path_.string(), limits_.depth));
    }
    if (++values_ > limits_.values) {
      throw UsageError(
          fmt::format("{}: holds more than {} values; use a report of fewer cases or samples",
                      path_.string(), limits_.values));
    }
  }

  const fs::path& path_;
  const ReadLimits& limits_;
  std::size_t values_ = 0;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
};

[[noreturn]] void refuse_content(const fs::path& path, std::size_t size,
                                 const Json::parse_error& error) {
  const std::string_view what = error.what();
  if (what.find("UTF-8") != std::string_view::npos) {
    throw UsageError(fmt::format("{}: is not UTF-8 (byte {}); convert it or write it again",
                                 path.string(), error.byte));
  }
  if (error.byte > size) {
    throw UsageError(
        fmt::format("{}: is truncated, it ends within a value after {} bytes; take a complete copy",
                    path.string(), size));
  }
  throw UsageError(fmt::format("{}: is not JSON: {}", path.string(), brief(what)));
}

std::size_t readable_size(const fs::path& path, const ReadLimits& limits) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    throw UsageError(fmt::format("{}: there is no such file; check the path", path.string()));
  }
  if (!fs::is_regular_file(status)) {
    throw UsageError(fmt::format("{}: {}; name a JSON file", path.string(),
                                 error ? error.message() : "is not a regular file"));
  }
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) throw UsageError(fmt::format("{}: {}", path.string(), error.message()));
  if (size == 0) {
    throw UsageError(fmt::format("{}: is empty; take a complete copy", path.string()));
  }
  if (size > limits.bytes) {
    throw UsageError(
        fmt::format("{}: has {} bytes, at most {} are read; use a report of fewer cases or samples",
                    path.string(), size, limits.bytes));
  }
  return size;
}

}  // namespace

void check_writable(const fs::path& path, const fs::path& default_directory) {
  if (path.empty()) throw UsageError("the path is empty; name a file");
  check_replaceable(path);
  if (!path.has_filename()) refuse(path, "it is a directory; add a file name");
  provide_directory(path, default_directory);
  const fs::path directory = directory_of(resolved(path));
  const TemporaryFile probe(directory);
  if (probe.error() != 0) {
    refuse(path, fmt::format("no file can be made in {}: {}; choose another path",
                             directory.string(), words(probe.error())));
  }
}

fs::path claim_file(const fs::path& path) {
  fs::path candidate = path;
  for (int number = 2;; ++number) {
    const int descriptor = ::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      ::close(descriptor);
      return candidate;
    }
    if (errno == EINTR) continue;
    if (errno != EEXIST) {
      throw Error(fmt::format("cannot write {}: {}", candidate.string(), words(errno)));
    }
    candidate = path.parent_path() /
                fmt::format("{}-{}{}", path.stem().string(), number, path.extension().string());
  }
}

bool is_same_file(const fs::path& one, const fs::path& other) {
  return resolved(fs::absolute(one)) == resolved(fs::absolute(other));
}

void write_file(const fs::path& path, std::string_view text) {
  const fs::path target = resolved(path);
  TemporaryFile file(directory_of(target));
  file.write(text);
  if (file.error() == 0) file.move_to(target);
  if (file.error() != 0) {
    throw Error(fmt::format("cannot write {}: {}", path.string(), words(file.error())));
  }
  flush_directory(directory_of(target));
}

void write_report(const fs::path& path, const Report& report, const GoogleBenchmarkPart& raw) {
  write_file(path, to_text(to_json(report, raw)));
}

Json read_json(const fs::path& path, const ReadLimits& limits) {
  const std::size_t size = readable_size(path, limits);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UsageError(fmt::format("{}: {}", path.string(), words(errno)));
  try {
    return Json::parse(stream, Guard(path, limits));
  } catch (const Json::parse_error& error) {
    refuse_content(path, size, error);
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{}: {}", path.string(), brief(error.what())));
  }
}

Report read_report(const fs::path& path, const ReadLimits& limits) {
  const Json file = read_json(path, limits);
  try {
    return from_json(file);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace parbench::report
