// Environment variables of launchers, and dlopen.
#include "bench/ranks/launcher.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/base/number.h"

namespace parbench {
namespace {

constexpr const char* library_name = "libparbench-mpi.so";

/// Environment variables of a launcher. Slurm sets the variables of a step only for processes that
/// srun starts; the rank variable alone does not mean that MPI can be initialised.
struct Variables {
  const char* rank;
  const char* size;
};
constexpr std::array<Variables, 3> launchers{{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                              {"PMI_RANK", "PMI_SIZE"},
                                              {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}}};

std::optional<int> number_of(const char* text) {
  return text == nullptr ? std::nullopt : parbench::number_in<int>(text);
}

/// Returns the paths to try: beside the program or library with this code, then the search path of
/// the system.
std::vector<std::filesystem::path> paths_of_library() {
  std::vector<std::filesystem::path> paths;
  Dl_info own{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&paths_of_library), &own) != 0) {
    const std::filesystem::path file = std::filesystem::canonical(own.dli_fname, error);
    if (!error) paths.push_back(file.parent_path() / library_name);
  }
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) paths.push_back(program.parent_path() / library_name);
  paths.emplace_back(library_name);
  return paths;
}

/// Opens the library. `problem` receives the reason if a file exists but cannot be opened. The
/// library is never closed, because MPI does not support that. Its symbols are global, because
/// plugins of Open MPI need them.
void* open_library(std::string& problem) {
  for (const std::filesystem::path& path : paths_of_library()) {
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
    std::error_code ignored;
    const char* const why = dlerror();
    if (std::filesystem::exists(path, ignored) && why != nullptr) problem = why;
  }
  return nullptr;
}

}  // namespace

std::optional<Launched> launched_ranks(const std::function<const char*(const char*)>& variable) {
  for (const Variables& launcher : launchers) {
    const auto rank = number_of(variable(launcher.rank));
    const auto size = number_of(variable(launcher.size));
    if (!rank || !size || *rank < 0 || *rank >= *size) continue;
    if (*size == 1) return std::nullopt;
    return Launched{*rank, *size};
  }
  return std::nullopt;
}

std::optional<Launched> launched_ranks() {
  return launched_ranks([](const char* name) -> const char* {
    return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): set by no thread
  });
}

std::unique_ptr<RankLink> load_rank_link() {
  std::string problem = "this build has no " + std::string(library_name);
  void* const library = open_library(problem);
  void* const symbol = library == nullptr ? nullptr : dlsym(library, make_rank_link_name);
  if (symbol == nullptr) {
    throw UsageError(fmt::format(
        "started by an MPI launcher as one of several ranks, but MPI cannot be used: {}\n"
        "install libopenmpi-dev and build again with -DPARBENCH_MPI=ON, or start one process "
        "without the launcher",
        problem));
  }
  std::string failure;
  RankLink* const link = reinterpret_cast<MakeRankLink>(symbol)(&failure);
  if (link == nullptr) throw UsageError("MPI cannot be used: " + failure);
  return std::unique_ptr<RankLink>(link);
}

}  // namespace parbench
