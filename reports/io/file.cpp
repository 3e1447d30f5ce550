// Writes files atomically and reads report files with limits.
#include "reports/io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <system_error>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/number.h"
#include "reports/io/report_text.h"

namespace parbench::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* limit_variable = "PARBENCH_MAX_REPORT_MB";

std::string words(int error) { return std::generic_category().message(error); }

/// Returns the directory of a file; "." for a bare name.
fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Writes the whole text; returns the error, or 0.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

/// A new file in a directory; removed unless it is moved to its final path.
class TemporaryFile {
 public:
  /// Sets `error()` if the file cannot be created.
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
    if (error_ == 0) error_ = write_all(descriptor_, text);
  }

  void flush() { check(::fsync(descriptor_)); }

  void move_to(const fs::path& target) {
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
  bool made_ = false;  // the file exists at `path_`
};

/// A buffer that writes to a file in pieces.
class FileBuffer : public std::streambuf {
 public:
  explicit FileBuffer(TemporaryFile& file) : file_(file) { empty(); }

 protected:
  int sync() override {
    file_.write({pbase(), pptr()});
    empty();
    return file_.error() == 0 ? 0 : -1;
  }
  int_type overflow(int_type letter) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(letter, traits_type::eof())) {
      sputc(traits_type::to_char_type(letter));
    }
    return traits_type::not_eof(letter);
  }

 private:
  void empty() { setp(piece_.data(), piece_.data() + piece_.size()); }

  TemporaryFile& file_;
  std::array<char, std::size_t{1} << 16U> piece_;
};

/// Makes a rename in the directory survive a power failure. Ignores errors, because not all file
/// systems can flush a directory.
void flush_directory(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

/// Resolves symbolic links, so that a rename does not replace them by a file.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

/// Replaces a file by a temporary one that `write` fills.
template <typename Write>
void replace_file(const fs::path& path, Durability durability, const Write& write) {
  const fs::path target = resolved(path);
  TemporaryFile file(directory_of(target));
  write(file);
  if (durability == Durability::flushed && file.error() == 0) file.flush();
  if (file.error() == 0) file.move_to(target);
  if (file.error() != 0) {
    throw Error(fmt::format("cannot write {}: {}", path.string(), words(file.error())));
  }
  if (durability == Durability::flushed) flush_directory(directory_of(target));
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
    refuse(path, fmt::format("the directory {} cannot be created: {}; choose another path",
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
    refuse(path, fmt::format("the file exists and cannot be replaced: {}; choose another path",
                             words(errno)));
  }
}

void check_readable(const fs::path& path, const ReadLimits& limits) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    throw UsageError("no such file; check the path");
  }
  if (!fs::is_regular_file(status)) {
    throw UsageError(
        fmt::format("{}; name a JSON file", error ? error.message() : "is not a regular file"));
  }
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) throw UsageError(error.message());
  if (size == 0) throw UsageError("is empty; take a complete copy");
  if (size > limits.bytes) {
    throw UsageError(
        fmt::format("has {} bytes, at most {} are read; {}", size, limits.bytes, limits.remedy));
  }
}

std::string whole_text(std::istream& stream, const fs::path& path) {
  std::string text(fs::file_size(path), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

/// Opens a file and calls `read` with its stream; adds the file's name to errors.
template <typename Read>
auto read_file(const fs::path& path, const ReadLimits& limits, const Read& read) {
  try {
    check_readable(path, limits);
    std::ifstream stream(path, std::ios::binary);
    if (!stream) throw UsageError(words(errno));
    return read(stream);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", path.string(), error.what()));
  } catch (const std::bad_alloc&) {
    throw UsageError(fmt::format(
        "{}: there is not enough memory to read it; use a report of fewer cases or samples",
        path.string()));
  }
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
    refuse(path, fmt::format("no file can be created in {}: {}; choose another path",
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

void write_file(const fs::path& path, std::string_view text, Durability durability) {
  replace_file(path, durability, [&](TemporaryFile& file) { file.write(text); });
}

void write_file(const fs::path& path, const WriteText& write, Durability durability) {
  replace_file(path, durability, [&](TemporaryFile& file) {
    FileBuffer buffer(file);
    std::ostream out(&buffer);
    write(out);
    out.flush();
  });
}

bool is_special_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::is_character_file(status) || fs::is_fifo(status);
}

void write_special_file(const fs::path& path, std::string_view text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const int error = descriptor < 0 ? errno : write_all(descriptor, text);
  if (descriptor >= 0) ::close(descriptor);
  if (error != 0) throw Error(fmt::format("cannot write {}: {}", path.string(), words(error)));
}

void write_report(const fs::path& path, const Report& report) {
  write_file(path, to_text(to_json(report)));
}

ReadLimits report_limits() {
  ReadLimits limits;
  const char* const text = std::getenv(limit_variable);
  if (text == nullptr) return limits;
  constexpr std::size_t max_mb = 1'000'000;
  constexpr std::size_t bytes_of_mb = 1'000'000;
  const auto mb = number_in<std::size_t>(text);
  if (!mb || *mb == 0 || *mb > max_mb) {
    throw UsageError(fmt::format("{}='{}' is not a valid size of a report; allowed: 1 to {} (MB)",
                                 limit_variable, text, max_mb));
  }
  const std::size_t bytes_of_value = limits.bytes / limits.values;
  limits.bytes = *mb * bytes_of_mb;
  limits.values = limits.bytes / bytes_of_value;
  return limits;
}

Json read_json(const fs::path& path, const ReadLimits& limits) {
  return read_file(path, limits, [&](auto& stream) { return parse_bounded(stream, limits); });
}

Report read_report(const fs::path& path, const ReadLimits& limits) {
  return read_file(path, limits, [&](auto& stream) { return report_in(stream, limits); });
}

std::string read_text(const fs::path& path, const ReadLimits& limits) {
  return read_file(path, limits, [&](auto& stream) { return whole_text(stream, path); });
}

Report report_of_text(std::string text, const ReadLimits& limits) {
  std::istringstream stream(std::move(text));
  return report_in(stream, limits);
}

}  // namespace parbench::report
