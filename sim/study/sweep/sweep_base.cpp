// The header of an output holds the scenario, so that one point can be run again with the output
// file alone. Files that it names may lie anywhere; their names are rewritten relative to the
// output, so that a folder can be moved as a whole.
#include "study/sweep/sweep_file.hpp"

#include <filesystem>

#include "document/json_text.hpp"
#include "scenario/keys/named_file_keys.hpp"

namespace stepsim::study {

namespace {

namespace fs = std::filesystem;

fs::path folder_of(std::string_view file) {
  const fs::path folder = file == "-" ? fs::path() : fs::path(std::string(file)).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

std::string relative_name(const std::string& path, const fs::path& folder) {
  const auto full = [](const fs::path& each) { return fs::absolute(each).lexically_normal(); };
  return full(path).lexically_relative(full(folder)).generic_string();
}

// `written`: where the names were read, if not in `tree` itself.
// Only texts at pointers that name files are changed; the same text elsewhere is a name or a word.
void rename_files(io::Json& tree, const fs::path& folder, const io::Json* written = nullptr) {
  io::for_each_leaf(tree, "", [&](io::Json& leaf, const std::string& pointer) {
    if (leaf.is_string() && names_file(pointer) && !is_shipped_name(leaf.as_string())) {
      const io::Json* read = written == nullptr ? nullptr : io::resolve(*written, pointer);
      const io::Json name = read != nullptr && read->is_string() ? *read : leaf;
      leaf = relative_name(path_of(name), folder);
    }
  });
}

// The file that the values of the axes were written in, if any of them names a file.
const io::Json* named_file(const Sweep& sweep) {
  for (const Axis& axis : sweep.grid.axes) {
    for (const io::Json& value : axis.values) {
      const bool at_name = names_file(axis.pointer) || names_file(axis.pointer + "/file");
      if (value.is_string() ? at_name && !is_shipped_name(value.as_string()) : value.is_object()) {
        return &value;
      }
    }
  }
  return nullptr;
}

} // namespace

io::Json with_names_relative_to(io::Json tree, const std::string& output) {
  rename_files(tree, folder_of(output));
  return tree;
}

io::Json with_names_relative_to(io::Json resolved, const std::string& output,
                                const io::Json& written) {
  rename_files(resolved, folder_of(output), &written);
  return resolved;
}

io::Object header_of_base(const Sweep& sweep, const std::string& output, Files& files) {
  io::Object members{{"scenario", with_names_relative_to(io::with_numbers(sweep.base), output)}};
  if (const std::vector<NamedFile> named = named_files(sweep.base, files); !named.empty()) {
    members.emplace_back("files", io::write_all(keys::kNamedFile, named));
  }
  if (!sweep.grid.zips.empty()) {
    members.emplace_back("zip", io::list_of(sweep.grid.zips));
  }
  if (sweep.grid.replications > 1) {
    members.emplace_back("replications", sweep.grid.replications);
  }
  if (const io::Json* value = named_file(sweep)) {
    members.emplace_back("axes_folder",
                         relative_name(folder_of(value->file()).string(), folder_of(output)));
  }
  return members;
}

// Merging may write to another folder than the shards lie in.
io::Json header_at(io::Json header, const std::string& output) {
  if (io::Json* scenario = header.find("scenario")) {
    const io::Json* files = header.find("files");
    find_named_files(*scenario, files == nullptr ? io::Json() : *files, "");
    *scenario = with_names_relative_to(std::move(*scenario), output);
  }
  if (io::Json* folder = header.find("axes_folder"); folder != nullptr && folder->is_string()) {
    const std::string now = path_of(*folder);
    *folder = relative_name(now, folder_of(output));
  }
  return header;
}

// Headers are written by this program, but files are edited by hand, so that everything is checked
// as in a file of a user.
Sweep sweep_of_header(const io::Json& header) {
  io::Problems problems;
  io::Fields fields(header, problems);
  Sweep sweep;
  const io::Json* scenario = fields.any("scenario");
  if (scenario == nullptr || !scenario->is_object()) {
    problems.add(header, "scenario",
                 "required to run a point again; this sweep was written by an earlier stepsim");
    problems.throw_if_any();
  }
  sweep.base = *scenario;
  const auto file = header.file_pointer();
  const std::string folder = fields.string("axes_folder", "");
  // A file that does not exist in the folder that names in axis values are relative to.
  const auto place = std::make_shared<const std::string>(
      (folder_of(header.file()) / folder / "axes").lexically_normal().string());
  for (const io::Json& json : fields.array("axes", true)) {
    io::Fields axis_fields(json, problems);
    Axis axis{axis_fields.string("field"), {}};
    for (const io::Json& value : axis_fields.array("values", true)) {
      axis.values.push_back(value);
      axis.values.back().set_origin(place, axis.pointer, 0);
    }
    if (axis.values.empty()) {
      problems.add(json, "values", "needs at least one value");
    }
    sweep.grid.axes.push_back(std::move(axis));
  }
  for (const io::Json& zip : fields.array("zip", false)) {
    std::vector<std::size_t> axes;
    const io::Range range = io::between(0, static_cast<double>(sweep.grid.axes.size()) - 1);
    for (const io::Json& axis : zip.is_array() ? zip.as_array() : io::Array()) {
      axes.push_back(
          static_cast<std::size_t>(io::checked_integer(axis, range, problems).value_or(0)));
    }
    if (axes.empty()) {
      problems.add(zip, "must be a list of numbers of axes");
    } else if (problems.empty()) {
      add_zip(zip, std::move(axes), problems, sweep.grid);
    }
  }
  sweep.grid.replications = fields.integer("replications", io::between(1, 1e9), 1);
  problems.throw_if_any();
  return sweep;
}

} // namespace stepsim::study
