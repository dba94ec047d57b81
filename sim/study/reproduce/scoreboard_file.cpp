#include "study/reproduce/reproduction_file.hpp"

#include "study/reproduce/scoreboard_keys.hpp"

namespace stepsim::reproduce {

namespace {

using io::Fields;
using io::Json;

// The members of a map of objects, each by `read` with the fields of its row.
template <class Read> auto each_member(Fields& fields, std::string_view key, Read read) {
  std::map<std::string, decltype(read(fields)), std::less<>> out;
  const Json* members = fields.any(key);
  if (members == nullptr || !members->is_object()) {
    fields.problems().add(fields.json(), key, "must be an object");
    return out;
  }
  for (const auto& [name, json] : members->as_object()) {
    Fields member(json, fields.problems(), fields.row(key).keys.front());
    out.emplace(name, read(member));
    member.no_more();
  }
  return out;
}

} // namespace

Scoreboard read_scoreboard(Fields& fields) {
  Scoreboard rules;
  rules.bus_latency_s = fields.number("bus_latency_s");
  for (const auto& [name, value] : members_of(fields, "buses")) {
    rules.buses.emplace(
        name, io::checked_number(value, keys::kBusRate[0].range, fields.problems()).value_or(1));
  }
  rules.bus_kinds = text_members(fields, "bus_kinds");
  rules.fabrics = each_member(fields, "fabrics", [](Fields& fabric) {
    return FabricRule{.latency_s = fabric.number("latency_s"),
                      .share = fabric.number("share"),
                      .carrier = fabric.word("transport", links::kCarriers),
                      .slow_Bps = fabric.number("slow_Bps"),
                      .slow_latency_s = fabric.number("slow_latency_s")};
  });
  rules.methods = each_member(fields, "methods", [](Fields& method) {
    return MethodRule{.schedule = method.text("schedule"),
                      .servers = method.word("servers", kServerPlaces),
                      .host_reduction = method.boolean("host_reduction")};
  });
  for (const auto& [name, options] : members_of(fields, "schedules")) {
    rules.schedules.emplace(name, options.is_object() ? options.as_object() : io::Object());
  }
  if (fields.has("tables")) {
    rules.tables = each_member(fields, "tables", [](Fields& table) {
      return TableRule{.model = table.text("model"), .elements = table.number("elements")};
    });
  }
  rules.other_table = fields.text("other_table");
  rules.interval = fields.number("interval");
  rules.publishers = text_members(fields, "publishers");
  rules.families = text_members(fields, "families");
  fields.no_more();
  return rules;
}

} // namespace stepsim::reproduce
