// Files of control groups as Linux shows them, in a folder that stands for the root of a system.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "tests/support/temporary_folder.h"

namespace parbench::test {

class MadeControlGroups {
 public:
  /// The process's groups: the lines of /proc/self/cgroup.
  void groups(std::string_view lines) const { folder_.write("proc/self/cgroup", lines); }

  /// Mounts version 2. `shown`: the group at the top of the mount.
  void mount_version_2(std::string_view point = "/sys/fs/cgroup", std::string_view shown = "/") {
    mount(point, shown, "cgroup2 cgroup2 rw");
  }
  /// Mounts the hierarchy of these controllers of version 1.
  void mount_version_1(std::string_view controllers, std::string_view point,
                       std::string_view shown = "/") {
    mount(point, shown, fmt::format("cgroup cgroup rw,{}", controllers));
  }

  void write(const std::string& name, std::string_view text) const { folder_.write(name, text); }

  /// The process is in a group of version 2 that has used and lacked so many seconds of cores.
  void set_core_time(double used, double withheld) const {
    write("sys/fs/cgroup/job/cpu.stat",
          fmt::format("usage_usec {:.0f}\nuser_usec 0\nnr_periods 9\nnr_throttled 3\n"
                      "throttled_usec {:.0f}\nnr_bursts 0\n",
                      1e6 * used, 1e6 * withheld));
  }
  /// A group of version 2 with a quota in cores, for `set_core_time`.
  void make_job(double cores) {
    groups("0::/job\n");
    mount_version_2();
    write("sys/fs/cgroup/job/cpu.max", fmt::format("{:.0f} 100000\n", 1e5 * cores));
    set_core_time(0, 0);
  }

  [[nodiscard]] const std::filesystem::path& root() const { return folder_.path(); }

 private:
  void mount(std::string_view point, std::string_view shown, std::string_view source) {
    mounts_ +=
        fmt::format("31 23 0:28 {} {} rw,nosuid,relatime shared:4 - {}\n", shown, point, source);
    folder_.write("proc/self/mountinfo", mounts_);
  }

  TemporaryFolder folder_;
  std::string mounts_ = "23 1 8:1 / / rw,relatime - ext4 /dev/root rw\n";
};

}  // namespace parbench::test
