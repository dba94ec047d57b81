// A model table says what a network computes and stores, not how long that takes: shapes of tensors
// and multiply-accumulates of layers for one sample. Each layer is read by itself; what several
// layers decide together (names, order, totals) is checked afterwards, once all of them are whole.
#include "scenario/files/trace_file.hpp"

#include "document/fields/members.hpp"
#include "scenario/files/keys/model_keys.hpp"

namespace stepsim::io {

namespace {

// The product of dimensions is taken in doubles, which cannot overflow; a tensor of more than 2^53
// elements loses its shape, so that no later sum of 64-bit integers overflows either.
layers::ModelTensor parse_model_tensor(Fields& fields) {
  layers::ModelTensor tensor;
  tensor.name = fields.text("name");
  double elements = 1;
  for (const Json& dimension : fields.list("shape", "dimension")) {
    const Range range = keys::kModelShape.front().range;
    if (!dimension.is_integer() || !range.contains(dimension.as_double())) {
      fields.problems().add(dimension, range.text() + ", got " + shown(dimension));
      continue;
    }
    tensor.shape.push_back(dimension.as_integer());
    elements *= dimension.as_double();
  }
  if (elements > kMostExact) {
    fields.refuse("shape", "more than 2^53 elements");
    tensor.shape.clear();
  }
  return tensor;
}

constexpr std::array kTableLayer{member<&layers::ModelLayer::name>("name"),
                                 member<&layers::ModelLayer::kind>("kind"),
                                 member<&layers::ModelLayer::macs>("macs"),
                                 member<&layers::ModelLayer::scaling>("scales_with"),
                                 given<&layers::ModelLayer::heads>("heads"),
                                 member<&layers::ModelLayer::execution_index>("execution_index")};
constexpr auto kSequence = members<&layers::SequenceInput::sequence_length,
                                   unless_default<&layers::SequenceInput::max_sequence_length>,
                                   unless_default<&layers::SequenceInput::causal>>;
constexpr auto kImage =
    members<&layers::ImageInput::channels, &layers::ImageInput::height, &layers::ImageInput::width>;

layers::ModelLayer parse_model_layer(Fields& fields) {
  layers::ModelLayer layer = read_members(kTableLayer, fields);
  layer.tensors = fields.each("tensors", parse_model_tensor);
  return layer;
}

// An input is a sequence as soon as it has a sequence length, otherwise an image; the keys of the
// other kind are then unknown keys and reported as such.
void parse_input(const Json& json, Problems& problems, layers::ModelTable& table) {
  const Json* given = json.find("sequence_length");
  const bool sequence = given != nullptr && !given->is_null();
  Fields fields(json, problems, sequence ? keys::kSequence : keys::kImage);
  if (sequence) {
    const std::int64_t length = fields.integer("sequence_length");
    // A recurrent network has no longest sequence.
    const Range longest{.low = static_cast<double>(length), .high = keys::kMaxTokens};
    table.sequence = layers::SequenceInput{
        length, fields.optional_integer("max_sequence_length", longest).value_or(0),
        fields.boolean("causal")};
  } else {
    table.image = read_members(kImage, fields);
  }
  fields.no_more();
}

// The file gives the multiply-accumulates at its own sequence length L. For another length they are
// scaled by the ratio (tokens) or its square (attention), which stays whole only if L or L^2
// divides them.
void check_scaling(const Json& json, const layers::ModelTable& table, Problems& problems) {
  for (std::size_t i = 0; i < table.layers.size(); ++i) {
    const layers::ModelLayer& layer = table.layers[i];
    const Json& place = json.find("layers")->as_array()[i];
    if (layer.scaling == layers::MacScaling::sample) {
      continue;
    }
    if (!table.sequence) {
      problems.add(place, "scales_with", "the input has no sequence length");
      continue;
    }
    const std::int64_t length = table.sequence->sequence_length;
    const std::int64_t unit =
        layer.scaling == layers::MacScaling::tokens ? length : length * length;
    if (layer.macs % unit != 0) {
      problems.add(place, "macs", "must be a multiple of {}, got {}", unit, layer.macs);
    }
  }
}

// Tensors are told apart by layer and tensor name together; "weight" may be in every layer.
void check_names(const Json& json, const layers::ModelTable& table, Problems& problems) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < table.layers.size(); ++i) {
    for (std::size_t t = 0; t < table.layers[i].tensors.size(); ++t) {
      const std::string name = table.layers[i].name + "." + table.layers[i].tensors[t].name;
      if (!names.insert(name).second) {
        problems.add(json.find("layers")->as_array()[i].find("tensors")->as_array()[t], "name",
                     "\"" + name + "\" appears twice");
      }
    }
  }
}

// Layers are listed as the framework registers its parameters. Where they run in another order,
// every layer has to say its place, from 1: with gaps or repetitions no order would follow.
void check_execution(const Json& json, const layers::ModelTable& table, Problems& problems) {
  std::set<std::int64_t> seen;
  const auto count = static_cast<std::int64_t>(table.layers.size());
  const bool used = std::any_of(table.layers.begin(), table.layers.end(),
                                [](const auto& layer) { return layer.execution_index; });
  for (std::size_t i = 0; used && i < table.layers.size(); ++i) {
    const Json& place = json.find("layers")->as_array()[i];
    const auto index = table.layers[i].execution_index;
    if (!index) {
      problems.add(place, "execution_index", "required, because other layers have one");
    } else if (*index > count) {
      problems.add(place, "execution_index", "must be in [1, {}], got {}", count, *index);
    } else if (!seen.insert(*index).second) {
      problems.add(place, "execution_index", std::to_string(*index) + " appears twice");
    }
  }
}

// A total that is left out counts as right: the sum itself is the default.
void check_totals(const Json& json, const layers::ModelTable& table, Problems& problems) {
  Fields fields(json, problems, *find_key(keys::kModel, "totals"));
  const auto compare = [&](std::string_view key, std::int64_t sum) {
    const std::int64_t given = fields.integer_or(key, sum);
    if (given != sum) {
      problems.add(json, key, "{}, but the layers sum to {}", given, sum);
    }
  };
  compare("elements", table.elements());
  compare("tensors", table.tensors());
  compare("layers", static_cast<std::int64_t>(table.layers.size()));
  compare("macs", table.macs());
  fields.no_more();
}

} // namespace

layers::ModelTable parse_model(const Json& json) {
  FileFields fields(json, keys::kModel);
  Problems& problems = fields.problems();
  layers::ModelTable table;
  table.name = fields.text("name");
  table.family = fields.text("family");
  table.source = fields.text("source");
  if (const Json* input = fields.any("input")) {
    parse_input(*input, problems, table);
  } else if (json.is_object()) {
    fields.refuse("input", "required (an image or a sequence)");
  }
  table.layers = fields.each("layers", parse_model_layer, "layer");
  const Json* totals = fields.any("totals");
  fields.finish(); // the checks below need whole layers
  // Sums in doubles first, because the exact ones below are 64-bit integers, which could overflow.
  double elements = 0;
  double macs = 0;
  for (const layers::ModelLayer& layer : table.layers) {
    macs += static_cast<double>(layer.macs);
    for (const layers::ModelTensor& tensor : layer.tensors) {
      elements += static_cast<double>(tensor.elements());
    }
  }
  if (elements > kMostExact || macs > kMostExact) {
    problems.add(*json.find("layers"), "more than 2^53 elements or multiply-accumulates");
    problems.throw_if_any();
  }
  check_scaling(json, table, problems);
  check_names(json, table, problems);
  check_execution(json, table, problems);
  if (totals != nullptr) {
    check_totals(*totals, table, problems);
  }
  problems.throw_if_any();
  return table;
}

layers::ModelTable parse_model_or_config(const Json& json) {
  return is_model_config(json) ? parse_model_config(json, config_name(json)) : parse_model(json);
}

// Totals are computed anew, so that a table that was changed in memory stays consistent.
Json to_json(const layers::ModelTable& table) {
  using layers::ModelTable;
  using layers::ModelTensor;
  Json json = file_json(keys::kModel);
  set_members<&ModelTable::name, &ModelTable::family, &ModelTable::source>(table, json);
  json.set("input", table.sequence ? write_members(kSequence, keys::kSequence, *table.sequence)
                    : table.image  ? write_members(kImage, keys::kImage, *table.image)
                                   : Json());
  json.set("totals", Object{{"elements", table.elements()},
                            {"tensors", table.tensors()},
                            {"layers", table.layers.size()},
                            {"macs", table.macs()}});
  json.set("layers", write_each(table.layers, [](const layers::ModelLayer& layer) {
             Json entry = write_members(kTableLayer, keys::kModelLayers.front(), layer);
             entry.set("tensors",
                       write_each(layer.tensors, tree_of<&ModelTensor::name, &ModelTensor::shape>));
             return entry;
           }));
  return json;
}

} // namespace stepsim::io
