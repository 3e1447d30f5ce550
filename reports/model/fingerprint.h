// The properties of a machine on which the times of a scenario depend: times from two machines with
// equal fingerprints may be compared.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Hardware only. Excludes subjects of comparisons (versions of libraries, drivers and kernels,
/// commits, flags) and differences between equal machines (host names, core numbers, bus ids).
struct Fingerprint {
  struct DeviceClass {
    std::string backend;
    std::string model;
    /// Number of cores or multiprocessors: "2 cores", "64 of 132 multiprocessors".
    std::string units;
    friend bool operator==(const DeviceClass&, const DeviceClass&) = default;
  };
  struct LinkClass {
    std::size_t from = 0;  // index in `devices`
    std::size_t to = 0;
    std::string kind;
    friend bool operator==(const LinkClass&, const LinkClass&) = default;
  };

  std::string cpu_model;  // `unknown_cpu` if unknown
  int cores = 0;          // allowed cores of the process, else those of the machine; 0: unknown
  /// Approximate installed memory, see `installed_gibibytes`; 0: unknown.
  double memory_gibibytes = 0;
  std::vector<DeviceClass> devices = {};  // devices of the scenario, in its order
  std::vector<LinkClass> links = {};
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

/// Returns the fingerprint with the devices on which the report measured `scenario`. Leaves out
/// devices that combine others. Older reports do not list devices by scenario; for them, all
/// devices count.
[[nodiscard]] Fingerprint fingerprint(const Report& report, const std::string& scenario);

/// Returns the fingerprint of a machine with this device alone.
[[nodiscard]] Fingerprint fingerprint(const Machine& machine, const Device& device);

/// Returns a hash of the fields as 16 hexadecimal digits.
[[nodiscard]] std::string id_of(const Fingerprint& machine);

/// Returns "AMD EPYC 9B45, 2 cores, 24 GiB · 2 × cpu (1 core)".
[[nodiscard]] std::string to_text(const Fingerprint& machine);

/// Returns "number of cores: 2 before, 4 now".
[[nodiscard]] std::string difference_text(std::string_view what, std::string_view before,
                                          std::string_view now);

/// Returns the first difference as text, "number of cores: 2 before, 4 now"; empty if there is
/// none. A CPU, number of cores or memory that is unknown on one side is not compared.
[[nodiscard]] std::string difference(const Fingerprint& before, const Fingerprint& now);

/// Returns which of "CPU" and "number of cores" are unknown, because another program did not record
/// them.
[[nodiscard]] std::vector<std::string> unknown_facts(const Fingerprint& machine);

/// Returns the installed memory from the memory that the kernel reports, which is a few percent
/// less: firmware and kernel take a part that varies from boot to boot. Rounds up to a multiple of
/// an eighth of the largest power of two that is not above it: 23.5 GiB is 24 GiB, 125.8 GiB is 128
/// GiB.
[[nodiscard]] double installed_gibibytes(std::size_t usable_bytes);

}  // namespace parbench::report
