#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include "r_api.h"
#include "r_read.h"
#include "sample.h"

#define CALL(name, n) \
  { #name, (DL_FUNC)(void (*)(void)) & ffi_##name, n }

static const R_CallMethodDef CALLS[] = {
    /* simulation */
    CALL(simulate_begin, 3),
    CALL(simulate_advance, 2),
    CALL(simulate_wants, 1),
    CALL(simulate_supply, 6),
    CALL(stream_seed, 4),
    CALL(arms_sound, 1),
    CALL(draw_rewards, 4),
    CALL(world_means, 4),
    /* mechanisms and counters */
    CALL(noise_names, 0),
    CALL(mechanism, 4),
    CALL(counter_add, 8),
    CALL(toeplitz, 2),
    /* exact noise */
    CALL(exact_rate, 2),
    CALL(exact_noise, 3),
    CALL(system_bytes, 1),
    CALL(checksum, 1),
    CALL(hex, 1),
    CALL(watch_end, 1),
    CALL(end_asked, 0),
    CALL(stderr_ready, 0),
    CALL(policy_properties, 0),
    CALL(compiled_register, 2),
    CALL(compiled_names, 1),
    CALL(compiled_properties, 2),
    CALL(compiled_check, 4),
    /* live sessions */
    CALL(session_new, 4),
    CALL(session_choose, 3),
    CALL(session_probability, 3),
    CALL(session_verdict, 1),
    CALL(session_finish, 1),
    CALL(session_news, 1),
    CALL(session_report, 1),
    CALL(session_update, 7),
    CALL(session_pulls, 1),
    CALL(session_paid, 1),
    CALL(session_grow, 2),
    CALL(session_update_until, 6),
    CALL(session_image, 2),
    CALL(session_known, 2),
    CALL(image_parts, 1),
    CALL(session_save, 1),
    CALL(session_restore, 2),
    /* audits */
    CALL(trace, 2),
    CALL(play_table, 4),
    /* evidence */
    CALL(evidence_means, 11),
    CALL(evidence_tosses, 8),
    /* privacy accountants */
    CALL(gdp_delta, 3),
    CALL(gdp_epsilon, 2),
    CALL(gdp_mu, 2),
    CALL(sequence_exact, 4),
    CALL(sequence_grid, 5),
    CALL(near_gdp, 6),
    CALL(sequence_lattice, 8),
    CALL(adversary, 8),
    /* contexts and logged data */
    CALL(pool_ids, 1),
    CALL(pool_misses, 4),
    CALL(log_sums, 2),
    CALL(log_products, 5),
    CALL(log_totals, 1),
    CALL(log_hash, 2),
    CALL(replay_begin, 3),
    CALL(replay_feed, 4),
    CALL(replay_advance, 2),
    CALL(max_context, 0),
    CALL(yahoo_begin, 1),
    CALL(yahoo_feed, 3),
    CALL(yahoo_finish, 1),
    /* what only tests call: test_*.c */
    CALL(exact_tree, 4),
    CALL(exact_path, 4),
    CALL(exact_release, 3),
    CALL(read_linear, 4),
    CALL(skip_from, 7),
    CALL(read_groups, 1),
    CALL(kl, 5),
    CALL(moving_average, 6),
    CALL(likelihood, 4),
    CALL(streams, 3),
    CALL(sample, 4),
    CALL(rng_words, 2),
    CALL(bit_loss, 3),
    CALL(bit_at, 4),
    CALL(lanes_widest, 1),
    CALL(test_means, 8),
    CALL(test_pair, 5),
    CALL(test_tosses, 6),
    CALL(test_kappas, 2),
    CALL(test_drawn, 2),
    {NULL, NULL, 0},
};

attribute_visible void R_init_dpts(DllInfo *dll) {
  R_registerRoutines(dll, NULL, CALLS, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
  R_RegisterCCallable("dpts", "dpts_register", (DL_FUNC)compiled_register);
  sample_init();
  remember_process();
}
