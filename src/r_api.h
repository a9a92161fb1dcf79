#ifndef DPTS_R_API_H
#define DPTS_R_API_H
/* The whole surface between R and C: every .Call routine. In R they are C_NAME. */

#define R_NO_REMAP
#define STRICT_R_HEADERS
#include <R.h>
#include <Rinternals.h>

/* r_simulate.c */
SEXP ffi_simulate_begin(SEXP world, SEXP policy, SEXP how);
SEXP ffi_simulate_advance(SEXP handle, SEXP seconds);
SEXP ffi_simulate_wants(SEXP handle);
SEXP ffi_simulate_supply(SEXP handle, SEXP slot, SEXP delays, SEXP rewards, SEXP means,
                         SEXP range);
SEXP ffi_stream_seed(SEXP seed, SEXP run, SEXP purpose, SEXP number);

/* r_arms.c */
SEXP ffi_arms_sound(SEXP arms);
SEXP ffi_draw_rewards(SEXP arms, SEXP arm, SEXP n, SEXP seed);
SEXP ffi_world_means(SEXP world, SEXP n, SEXP seed, SEXP run);

/* r_trace.c */
SEXP ffi_trace(SEXP policy, SEXP script);
SEXP ffi_play_table(SEXP policy, SEXP table, SEXP runs, SEXP seed);

/* r_policy.c */
SEXP ffi_policy_properties(void);
SEXP ffi_compiled_register(SEXP library, SEXP entry);
SEXP ffi_compiled_names(SEXP library);
SEXP ffi_compiled_properties(SEXP library, SEXP name);
SEXP ffi_compiled_check(SEXP policy, SEXP k, SEXP horizon, SEXP dim);

/* r_read.c */
SEXP ffi_max_context(void);

/* r_counter.c */
SEXP ffi_noise_names(void);
SEXP ffi_mechanism(SEXP kind, SEXP value, SEXP scale, SEXP seed);
SEXP ffi_toeplitz(SEXP bound, SEXP items);
SEXP ffi_counter_add(SEXP kind, SEXP par, SEXP state, SEXP items, SEXP seed, SEXP run,
                     SEXP silent, SEXP max_ledger);

/* r_exact.c */
SEXP ffi_exact_rate(SEXP numer, SEXP denom);
SEXP ffi_exact_noise(SEXP distribution, SEXP value, SEXP rate);
SEXP ffi_system_bytes(SEXP n);

/* r_session.c */
SEXP ffi_session_new(SEXP policy, SEXP k, SEXP horizon, SEXP dim);
SEXP ffi_session_choose(SEXP handle, SEXP offer, SEXP context);
SEXP ffi_session_probability(SEXP handle, SEXP offer, SEXP context);
SEXP ffi_session_verdict(SEXP handle);
SEXP ffi_session_finish(SEXP handle);
SEXP ffi_session_news(SEXP handle);
SEXP ffi_session_report(SEXP handle);
SEXP ffi_session_update(SEXP handle, SEXP t, SEXP arm, SEXP batch, SEXP reward,
                        SEXP context, SEXP forced);
SEXP ffi_session_pulls(SEXP handle);
SEXP ffi_session_paid(SEXP handle);
SEXP ffi_session_grow(SEXP handle, SEXP old);
SEXP ffi_session_update_until(SEXP handle, SEXP t, SEXP arm, SEXP batch, SEXP reward,
                              SEXP from);
SEXP ffi_session_image(SEXP handle, SEXP parts);
SEXP ffi_session_known(SEXP handle, SEXP bytes);
SEXP ffi_image_parts(SEXP bytes);
SEXP ffi_session_save(SEXP handle);
SEXP ffi_session_restore(SEXP handle, SEXP bytes);

/* r_agent.c */
SEXP ffi_checksum(SEXP bytes);
SEXP ffi_hex(SEXP bytes);

/* r_signal.c */
SEXP ffi_watch_end(SEXP on);
SEXP ffi_end_asked(void);
SEXP ffi_stderr_ready(void);

/* r_account.c */
SEXP ffi_gdp_delta(SEXP mu, SEXP epsilon, SEXP log);
SEXP ffi_gdp_epsilon(SEXP mu, SEXP delta);
SEXP ffi_gdp_mu(SEXP epsilon, SEXP delta);
SEXP ffi_sequence_exact(SEXP alpha, SEXP rounds, SEXP start, SEXP scale);
SEXP ffi_sequence_grid(SEXP alpha, SEXP rounds, SEXP start, SEXP scale, SEXP coarse);
SEXP ffi_near_gdp(SEXP rounds, SEXP start, SEXP scale, SEXP nu, SEXP coarse, SEXP report);
SEXP ffi_sequence_lattice(SEXP rounds, SEXP start, SEXP scale, SEXP nodes, SEXP step,
                          SEXP below, SEXP points, SEXP report);
SEXP ffi_adversary(SEXP rounds, SEXP start, SEXP scale, SEXP alpha, SEXP bounded, SEXP seed,
                   SEXP first, SEXP runs);

/* r_log.c */
SEXP ffi_pool_ids(SEXP pools);
SEXP ffi_pool_misses(SEXP arm, SEXP pool, SEXP start, SEXP members);
SEXP ffi_log_sums(SEXP state, SEXP columns);
SEXP ffi_log_products(SEXP state, SEXP arm, SEXP k, SEXP context, SEXP reward);
SEXP ffi_log_totals(SEXP state);
SEXP ffi_log_hash(SEXP state, SEXP block);

/* r_replay.c */
SEXP ffi_replay_begin(SEXP log, SEXP policy, SEXP how);
SEXP ffi_replay_feed(SEXP handle, SEXP log, SEXP before, SEXP last);
SEXP ffi_replay_advance(SEXP handle, SEXP seconds);

/* r_read_yahoo.c */
SEXP ffi_yahoo_begin(SEXP max_rows);
SEXP ffi_yahoo_feed(SEXP handle, SEXP bytes, SEXP last);
SEXP ffi_yahoo_finish(SEXP handle);

/* r_evidence.c */
SEXP ffi_evidence_means(SEXP k, SEXP arm, SEXP t, SEXP size, SEXP sum, SEXP terms,
                        SEXP noise, SEXP risk, SEXP margin, SEXP alpha, SEXP line);
SEXP ffi_evidence_tosses(SEXP chance, SEXP tossed, SEXP sum, SEXP noise, SEXP permuted,
                         SEXP least, SEXP line, SEXP margin);

/* ---- what only tests call ---- */

/* test_state.c */
SEXP ffi_read_linear(SEXP state, SEXP k, SEXP dim, SEXP at);
SEXP ffi_skip_from(SEXP policy, SEXP state, SEXP t, SEXP rewards, SEXP rounds, SEXP runs,
                   SEXP seed);
SEXP ffi_read_groups(SEXP state);

/* test_exact.c */
SEXP ffi_exact_tree(SEXP distribution, SEXP rate, SEXP depth, SEXP most);
SEXP ffi_exact_path(SEXP rate, SEXP word, SEXP width, SEXP coins);
SEXP ffi_exact_release(SEXP distribution, SEXP sum, SEXP scale);

/* test_sample.c */
SEXP ffi_streams(SEXP seed, SEXP run, SEXP n);
SEXP ffi_sample(SEXP distribution, SEXP n, SEXP par, SEXP seed);
SEXP ffi_rng_words(SEXP state, SEXP n);
SEXP ffi_lanes_widest(SEXP unit);

/* test_account_bit.c */
SEXP ffi_bit_loss(SEXP alpha, SEXP shift, SEXP charge);
SEXP ffi_bit_at(SEXP alpha, SEXP shift, SEXP charge, SEXP x);

/* test_estimate.c */
SEXP ffi_moving_average(SEXP sizes, SEXP sums, SEXP carries, SEXP sd, SEXP seed,
                        SEXP silent);
SEXP ffi_likelihood(SEXP sizes, SEXP noisy, SEXP b, SEXP at);

/* test_kl.c */
SEXP ffi_kl(SEXP what, SEXP x, SEXP y, SEXP a, SEXP n);

/* test_evidence.c */
SEXP ffi_test_means(SEXP size, SEXP sum, SEXP noise, SEXP sign, SEXP theta, SEXP rival,
                    SEXP risk, SEXP share);
SEXP ffi_test_pair(SEXP size, SEXP sum, SEXP noise, SEXP margin, SEXP theta);
SEXP ffi_test_tosses(SEXP p, SEXP tossed, SEXP sum, SEXP noise, SEXP kappa, SEXP permuted);
SEXP ffi_test_kappas(SEXP noise, SEXP least);
SEXP ffi_test_drawn(SEXP noise, SEXP live);

#endif
