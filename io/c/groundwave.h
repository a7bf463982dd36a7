/* Links, profiles, coverages and ITM losses of Groundwave.
 *
 * Requests are JSON documents with the keys of scenario files; heights and results are arrays. Every function returns
 * an answer that the caller frees: a result with a JSON document and an array, or an error with its text. Functions
 * have no state, any number of threads may call them.
 *
 *   const char *request = "{\"from\": {\"lat_deg\": 57.7, \"lon_deg\": 11.9},"
 *                         " \"to\": {\"lat_deg\": 57.8, \"lon_deg\": 11.9}}";
 *   groundwave_answer *answer = groundwave_link_over(request, strlen(request), heights_m, 200);
 *   fwrite(groundwave_answer_text(answer), 1, groundwave_answer_text_length(answer), stdout);
 *   groundwave_answer_free(answer);
 */
#ifndef GROUNDWAVE_H
#define GROUNDWAVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A result or an error. */
typedef struct groundwave_answer groundwave_answer;

/* 1 for a result, 0 for an error. */
int32_t groundwave_answer_valid(const groundwave_answer *answer);
/* The JSON document of a result, which may be empty, or the text of an error: UTF-8 without a closing zero. */
const char *groundwave_answer_text(const groundwave_answer *answer);
size_t groundwave_answer_text_length(const groundwave_answer *answer);
/* The array of a result: numbers of groundwave_answer_value_bytes (8: double, 4: float) each. */
const void *groundwave_answer_values(const groundwave_answer *answer);
size_t groundwave_answer_values_length(const groundwave_answer *answer);
size_t groundwave_answer_value_bytes(const groundwave_answer *answer);
/* Frees an answer and what it points to; NULL is allowed. */
void groundwave_answer_free(groundwave_answer *answer);

/* Losses of `count` paths of `samples` evenly spaced heights each, m above mean sea level, dB, as doubles. `inputs`
 * are 13 numbers: distance between heights (m), transmitter and receiver (m above ground), climate (1 to 7),
 * refractivity (N-units), frequency (MHz), polarisation (0 horizontal, 1 vertical), permittivity, conductivity (S/m),
 * mode of variability (NTIA's code), time, location and situation (percent). */
groundwave_answer *groundwave_itm(const double *heights, size_t samples, size_t count, const double *inputs);

/* Budget of a link in both directions over heights evenly spaced from one end to the other. */
groundwave_answer *groundwave_link_over(const char *request, size_t request_length, const double *heights,
                                        size_t heights_length);

/* The same over an array of heights, row by row from the north-west, NaN for voids. `extent` is a JSON document:
 * {"west_deg", "south_deg", "east_deg", "north_deg", "rows", "columns"}, outer edges of the cells as GDAL has them. */
groundwave_answer *groundwave_link(const char *request, size_t request_length, const char *extent,
                                   size_t extent_length, const float *heights, size_t heights_length);

/* Samples of the profile of a link: doubles, column by column; the document names the columns. */
groundwave_answer *groundwave_profile(const char *request, size_t request_length, const char *extent,
                                      size_t extent_length, const float *heights, size_t heights_length);

/* Coverage around a site: floats, plane by plane, NaN where a cell has no answer; the document names the planes and
 * has bounds and transform. */
groundwave_answer *groundwave_coverage(const char *request, size_t request_length, const char *extent,
                                       size_t extent_length, const float *heights, size_t heights_length);

/* Rows and columns of the grid of a coverage, as a JSON array. */
groundwave_answer *groundwave_coverage_size(const char *request, size_t request_length);

/* Position in a text, in any of the spellings of the command line: latitude and longitude as doubles, deg, north and
 * east positive. */
groundwave_answer *groundwave_position(const char *text, size_t length);

/* Radios and antennas by name, as a JSON document. */
groundwave_answer *groundwave_presets(void);

#ifdef __cplusplus
}
#endif

#endif
