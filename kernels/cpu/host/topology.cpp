// hwloc finds the cores; the kernel's affinity calls bind threads to them.
#include "kernels/cpu/host/topology.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <span>

#include "kernels/base/error.h"

namespace parbench::cpu {
namespace {

struct TopologyDeleter {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw Error("hwloc cannot be initialised");
  Topology topology(raw);
  // Finding caches and devices takes time, and identifying cores does not need them.
  hwloc_topology_set_all_types_filter(topology.get(), HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(topology.get(), HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(topology.get(), HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(topology.get()) != 0) {
    throw Error("hwloc cannot read this machine's topology; is /sys mounted?");
  }
  return topology;
}

std::vector<int> allowed_units() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) {
    throw Error(fmt::format("the affinity mask cannot be read: {}", std::strerror(errno)));
  }
  std::vector<int> units;
  for (int unit = 0; unit < CPU_SETSIZE; ++unit) {
    if (CPU_ISSET(unit, &mask)) units.push_back(unit);
  }
  return units;
}

bool holds(hwloc_obj_t object, int unit) {
  return hwloc_bitmap_isset(object->cpuset, static_cast<unsigned>(unit)) != 0;
}

std::vector<int> usable_cores_of(const Topology& topology) {
  const std::vector<int> allowed = allowed_units();
  std::vector<int> cores;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr;) {
    for (const int unit : allowed) {
      if (!holds(core, unit)) continue;
      cores.push_back(unit);
      break;  // one processing unit per core: siblings would share the core
    }
  }
  return cores.empty() ? allowed : cores;
}

/// Binds the calling thread to these cores. Returns the system's error number, or 0.
int bind_to(std::span<const int> cores) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int core : cores) CPU_SET(core, &mask);
  return pthread_setaffinity_np(pthread_self(), sizeof(mask), &mask);
}

void check_bound(std::span<const int> cores, int error) {
  if (error == 0) return;
  throw Error(fmt::format("a thread cannot be bound to cores {}: {}", fmt::join(cores, ","),
                          std::strerror(error)));
}

}  // namespace

std::vector<int> usable_cores() { return usable_cores_of(load_topology()); }

std::vector<int> local_cores(const std::vector<int>& cores) {
  const Topology topology = load_topology();
  std::set<int> local(cores.begin(), cores.end());
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    const auto in_node = [&](int unit) { return holds(node, unit); };
    if (std::ranges::none_of(cores, in_node)) continue;
    std::ranges::copy_if(usable_cores_of(topology), std::inserter(local, local.end()), in_node);
  }
  return {local.begin(), local.end()};
}

std::string processor_model() {
  const Topology topology = load_topology();
  const char* model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology.get()), "CPUModel");
  if (model == nullptr) {
    const hwloc_obj_t package = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_PACKAGE, 0);
    if (package != nullptr) model = hwloc_obj_get_info_by_name(package, "CPUModel");
  }
  if (model == nullptr) {
    model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology.get()), "Architecture");
  }
  return model != nullptr ? model : "unknown processor";
}

void bind_this_thread(const std::vector<int>& cores) { check_bound(cores, bind_to(cores)); }

void bind_team(const std::vector<int>& cores, int threads) {
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  if (threads == 1) return;
  const std::span all(cores);
  const auto core_of = [&](std::size_t member) { return all.subspan(member % all.size(), 1); };
  // An exception that leaves a parallel region ends the process.
  std::vector<int> errors(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    const auto member = static_cast<std::size_t>(omp_get_thread_num());
    errors[member] = bind_to(core_of(member));
  }
  for (std::size_t member = 0; member < errors.size(); ++member) {
    check_bound(core_of(member), errors[member]);
  }
}

void wake_team(int threads) {
  if (threads == 1) return;
#pragma omp parallel num_threads(threads)
  {  // The compiler might remove an empty region.
    asm volatile("" ::: "memory");
  }
}

}  // namespace parbench::cpu
