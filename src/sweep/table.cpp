// sweep.h5: the runs of a sweep as one table.
#include <cmath>
#include <limits>

#include "io/atomic_file.hpp"
#include "io/hdf5_handle.hpp"
#include "osier/simulation.hpp"
#include "sweep/sweep.hpp"

namespace osier {

namespace {

using Shape = std::vector<hsize_t>;

class TableFile {
 public:
  explicit TableFile(std::string path) : path_(std::move(path)) {
    hdf5_be_quiet();
    file_ = {check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "the file"), H5Fclose};
  }
  template <class Result>
  Result check(Result result, std::string_view what) const {
    return hdf5_check(result, path_, what);
  }
  void write(const char* name, const Shape& shape, hid_t file_type, hid_t memory_type, const void* data) const {
    const Hdf5Handle space(check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), name), H5Sclose);
    const Hdf5Handle dataset(check(H5Dcreate2(file_, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), name),
                             H5Dclose);
    if (data && H5Sget_simple_extent_npoints(space) > 0)
      check(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), name);
  }
  /// Of one length, padded with zeros.
  void write_words(const char* name, const Shape& shape, const std::vector<std::string>& words) const {
    std::size_t longest = 1;
    for (const std::string& word : words) longest = std::max(longest, word.size());
    std::string all(longest * words.size(), '\0');
    for (std::size_t i = 0; i < words.size(); ++i) words[i].copy(all.data() + i * longest, longest);
    const Hdf5Handle type(check(H5Tcopy(H5T_C_S1), name), H5Tclose);
    check(H5Tset_size(type, longest), name);
    check(H5Tset_strpad(type, H5T_STR_NULLPAD), name);
    check(H5Tset_cset(type, H5T_CSET_UTF8), name);
    write(name, shape, type, type, all.data());
  }
  void close() { check(file_.close(), "the end of the file"); }

 private:
  std::string path_;
  Hdf5Handle file_;
};

}  // namespace

void write_sweep_table(const SweepTable& table, const std::filesystem::path& path) {
  const std::filesystem::path temporary = temporary_for(path);
  TableFile file(temporary.string());
  std::vector<std::string> columns = table.design.pointers, words, errors;
  columns.insert(columns.end(), table.columns.begin(), table.columns.end());
  std::vector<double> numbers;
  std::vector<std::int64_t> runs;
  std::vector<std::uint8_t> done;
  std::vector<std::vector<double>> parameters;
  for (std::size_t p = 0; p < table.design.pointers.size(); ++p) parameters.push_back(parameter_of(table, p));
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const SweepRow& row = table.rows[r];
    runs.push_back(static_cast<std::int64_t>(row.run));
    done.push_back(row.error.empty() ? 1 : 0);
    errors.push_back(row.error);
    for (const std::vector<double>& list : parameters) numbers.push_back(list[r]);
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      numbers.push_back(row.values.empty() ? std::numeric_limits<double>::quiet_NaN() : row.values[c]);
    words.insert(words.end(), table.design.rows[row.run].begin(), table.design.rows[row.run].end());
  }
  const hsize_t n = table.rows.size();
  file.write_words("scene", {1}, {table.scene_json});
  file.write_words("version", {1}, {version()});
  file.write_words("columns", {columns.size()}, columns);
  file.write("table", {n, columns.size()}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, numbers.data());
  file.write("run", {n}, H5T_STD_I64LE, H5T_NATIVE_INT64, runs.data());
  file.write("done", {n}, H5T_STD_U8LE, H5T_NATIVE_UINT8, done.data());
  file.write_words("values", {n, table.design.pointers.size()}, words);
  file.write_words("error", {n}, errors);
  file.close();
  put_in_place(temporary, path);
}

}  // namespace osier
