#include "import/kineto/kineto_keys.hpp"

#include <array>

namespace stepsim::io {

namespace {

struct KeyName {
  std::string_view text;
  KinetoKey key;
};

template <std::size_t N>
KinetoKey look_up(const std::array<KeyName, N>& table, std::string_view text) {
  for (const KeyName& row : table) {
    if (row.text == text) {
      return row.key;
    }
  }
  return KinetoKey::other;
}

constexpr std::array kFileKeys{KeyName{"traceEvents", KinetoKey::trace_events},
                               KeyName{"deviceProperties", KinetoKey::device_properties},
                               KeyName{"distributedInfo", KinetoKey::distributed_info},
                               KeyName{"record_shapes", KinetoKey::record_shapes}};
constexpr std::array kEventKeys{KeyName{"ph", KinetoKey::ph},     KeyName{"cat", KinetoKey::cat},
                                KeyName{"name", KinetoKey::name}, KeyName{"pid", KinetoKey::pid},
                                KeyName{"tid", KinetoKey::tid},   KeyName{"ts", KinetoKey::ts},
                                KeyName{"dur", KinetoKey::dur},   KeyName{"args", KinetoKey::args}};
constexpr std::array kArgumentKeys{KeyName{"External id", KinetoKey::external_id},
                                   KeyName{"correlation", KinetoKey::correlation},
                                   KeyName{"Sequence number", KinetoKey::sequence},
                                   KeyName{"Input Dims", KinetoKey::input_dims},
                                   KeyName{"Input dims", KinetoKey::input_dims}, // until 2021
                                   KeyName{"Input type", KinetoKey::input_type},
                                   KeyName{"Collective name", KinetoKey::collective},
                                   KeyName{"In msg nelems", KinetoKey::elements},
                                   KeyName{"Out msg nelems", KinetoKey::out_elements},
                                   KeyName{"Process Group Name", KinetoKey::group},
                                   KeyName{"Group size", KinetoKey::group_size},
                                   KeyName{"dtype", KinetoKey::dtype}};

} // namespace

KinetoKey file_key(std::string_view name) { return look_up(kFileKeys, name); }
KinetoKey event_key(std::string_view name) { return look_up(kEventKeys, name); }
KinetoKey argument_key(std::string_view name) { return look_up(kArgumentKeys, name); }

} // namespace stepsim::io
