// Reading and describing of self-describing parameters (core/describe.hpp): what a registry needs for its types.
#pragma once

#include "core/json_reader.hpp"
#include "core/schema_builder.hpp"

namespace osier {

/// The registry line of a type with fields() that becomes a Base through Make(T&&).
template <class Base, class Derived>
constexpr RegistryEntry<Base> registry_entry(const char* name, const char* help) {
  return {name, help,
          [](JsonReader& reader) -> std::unique_ptr<Base> {
            auto made = std::make_unique<Derived>();
            made->fields(reader);
            return made;
          },
          [](SchemaBuilder& builder) { builder.tagged_object<Derived>(); }};
}

}  // namespace osier
