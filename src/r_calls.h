/* The whole surface between R and C: ffi_NAME here and C_NAME in R, how many arguments it has, and which.
   Who includes this says by CALL what is made of it: a prototype in r_api.h, an entry of the table in
   r_init.c. */
/* clang-format off */
/* r_simulate.c */
CALL(simulate_begin, 3, SEXP world, SEXP policy, SEXP how)
CALL(simulate_advance, 2, SEXP handle, SEXP seconds)
CALL(simulate_wants, 1, SEXP handle)
CALL(simulate_pause, 3, SEXP handle, SEXP slot, SEXP arms)
CALL(simulate_supply, 6, SEXP handle, SEXP slot, SEXP delays, SEXP rewards, SEXP means, SEXP range)
CALL(stream_seed, 4, SEXP seed, SEXP run, SEXP purpose, SEXP number)
/* r_arms.c */
CALL(arms_sound, 1, SEXP arms)
CALL(draw_rewards, 4, SEXP arms, SEXP arm, SEXP n, SEXP seed)
CALL(world_means, 4, SEXP world, SEXP n, SEXP seed, SEXP run)
/* r_trace.c */
CALL(trace, 2, SEXP policy, SEXP script)
/* r_policy.c */
CALL(policy_properties, 0, void)
CALL(block_sizes, 8, SEXP growth, SEXP size, SEXP made, SEXP people, SEXP until, SEXP k, SEXP noise,
     SEXP spread)
CALL(compiled_register, 2, SEXP library, SEXP entry)
CALL(compiled_names, 2, SEXP library, SEXP adversaries)
CALL(compiled_properties, 3, SEXP library, SEXP name, SEXP adversary)
CALL(compiled_check, 4, SEXP policy, SEXP k, SEXP horizon, SEXP dim)
/* r_read.c */
CALL(max_context, 0, void)
CALL(first_batch, 3, SEXP policy, SEXP dim, SEXP horizon)
/* r_counter.c */
CALL(noise_names, 0, void)
CALL(mechanism, 4, SEXP kind, SEXP value, SEXP scale, SEXP seed)
CALL(toeplitz, 2, SEXP bound, SEXP items)
CALL(counter_add, 5, SEXP counter, SEXP items, SEXP seed, SEXP silent, SEXP max_ledger)
CALL(random_seed, 0, void)
/* r_past.c */
CALL(past_add, 3, SEXP buffer, SEXP n, SEXP more)
CALL(past_view, 2, SEXP buffer, SEXP n)
/* r_exact.c */
CALL(exact_rate, 2, SEXP numer, SEXP denom)
CALL(exact_noise, 3, SEXP distribution, SEXP value, SEXP rate)
CALL(system_bytes, 1, SEXP n)
/* r_session.c */
CALL(session_bytes, 4, SEXP policy, SEXP k, SEXP horizon, SEXP dim)
CALL(session_new, 4, SEXP policy, SEXP k, SEXP horizon, SEXP dim)
CALL(session_choose, 3, SEXP handle, SEXP offer, SEXP context)
CALL(session_look, 5, SEXP handle, SEXP offer, SEXP context, SEXP last, SEXP held)
CALL(session_close, 3, SEXP handle, SEXP arm, SEXP forced)
CALL(session_verdict, 1, SEXP handle)
CALL(session_unpull, 3, SEXP handle, SEXP arm, SEXP batch)
CALL(session_release_next, 1, SEXP handle)
CALL(session_finish, 1, SEXP handle)
CALL(session_news, 1, SEXP handle)
CALL(session_report, 1, SEXP handle)
CALL(session_update, 7, SEXP handle, SEXP t, SEXP arm, SEXP batch, SEXP reward, SEXP context, SEXP forced)
CALL(session_pulls, 1, SEXP handle)
CALL(session_paid, 1, SEXP handle)
CALL(session_grow, 2, SEXP handle, SEXP old)
CALL(session_update_until, 6, SEXP handle, SEXP t, SEXP arm, SEXP batch, SEXP reward, SEXP from)
CALL(session_image, 2, SEXP handle, SEXP parts)
CALL(session_pages, 4, SEXP handle, SEXP numbers, SEXP bytes, SEXP pages)
CALL(session_known, 2, SEXP handle, SEXP bytes)
CALL(image_parts, 1, SEXP bytes)
CALL(session_save, 1, SEXP handle)
CALL(session_restore, 2, SEXP handle, SEXP bytes)
/* r_outcome.c */
CALL(outcome_report, 1, SEXP how)
CALL(outcome_release, 5, SEXP how, SEXP k, SEXP arm, SEXP value, SEXP forced)
/* r_agent.c */
CALL(checksum, 1, SEXP bytes)
CALL(hex, 1, SEXP bytes)
CALL(unhex, 1, SEXP text)
CALL(ticks, 0, void)
CALL(file_identity, 1, SEXP path)
/* r_signal.c */
CALL(watch_end, 1, SEXP on)
CALL(end_asked, 0, void)
CALL(stderr_ready, 0, void)
/* r_json.c */
CALL(json, 1, SEXP value)
CALL(json_rows, 1, SEXP columns)
CALL(json_record, 1, SEXP list)
/* r_serve.c */
CALL(serve_open, 4, SEXP host, SEXP port, SEXP seconds, SEXP bytes)
CALL(serve_close, 1, SEXP pointer)
CALL(serve_next, 2, SEXP pointer, SEXP milliseconds)
CALL(serve_let_in, 2, SEXP pointer, SEXP id)
CALL(serve_answer, 4, SEXP pointer, SEXP id, SEXP head, SEXP body)
/* r_account.c */
CALL(gdp_delta, 3, SEXP mu, SEXP epsilon, SEXP log)
CALL(gdp_epsilon, 2, SEXP mu, SEXP delta)
CALL(gdp_mu, 2, SEXP epsilon, SEXP delta)
CALL(losses_add, 3, SEXP x, SEXP y, SEXP knots)
CALL(sequence_exact, 5, SEXP alpha, SEXP rounds, SEXP start, SEXP scale, SEXP report)
CALL(sequence_grid, 5, SEXP alpha, SEXP rounds, SEXP start, SEXP scale, SEXP coarse)
CALL(near_gdp, 6, SEXP rounds, SEXP start, SEXP scale, SEXP nu, SEXP coarse, SEXP report)
CALL(sequence_lattice, 8, SEXP rounds, SEXP start, SEXP scale, SEXP nodes, SEXP step, SEXP below,
     SEXP points, SEXP report)
CALL(adversary, 9, SEXP rounds, SEXP start, SEXP scale, SEXP alpha, SEXP bounded, SEXP seed, SEXP first,
      SEXP runs, SEXP report)
/* r_log.c */
CALL(pool_ids, 1, SEXP pools)
CALL(pool_misses, 4, SEXP arm, SEXP pool, SEXP start, SEXP members)
CALL(log_sums, 2, SEXP state, SEXP columns)
CALL(log_products, 5, SEXP state, SEXP arm, SEXP k, SEXP context, SEXP reward)
CALL(log_totals, 1, SEXP state)
CALL(log_hash, 2, SEXP state, SEXP block)
/* r_read_yahoo.c */
CALL(yahoo_lines, 2, SEXP rest, SEXP more)
/* r_replay.c */
CALL(replay_begin, 3, SEXP log, SEXP policy, SEXP how)
CALL(replay_feed, 4, SEXP handle, SEXP log, SEXP before, SEXP last)
CALL(replay_advance, 2, SEXP handle, SEXP seconds)
/* r_evidence.c */
CALL(looks, 5, SEXP strata, SEXP stratum, SEXP people, SEXP t, SEXP open)
CALL(evidence, 5, SEXP arms, SEXP table, SEXP ask, SEXP known, SEXP seconds)
CALL(final_test, 3, SEXP arms, SEXP strata, SEXP table)
/* ---- what only tests call ---- */
/* test_state.c */
CALL(read_linear, 3, SEXP state, SEXP k, SEXP dim)
CALL(skip_from, 7, SEXP policy, SEXP state, SEXP t, SEXP rewards, SEXP rounds, SEXP runs, SEXP seed)
CALL(read_skip, 2, SEXP state, SEXP k)
/* test_exact.c */
CALL(exact_tree, 4, SEXP distribution, SEXP rate, SEXP depth, SEXP most)
CALL(exact_path, 4, SEXP rate, SEXP word, SEXP width, SEXP coins)
CALL(exact_pair, 2, SEXP scale, SEXP weight)
CALL(exact_release, 3, SEXP distribution, SEXP sum, SEXP scale)
/* test_sample.c */
CALL(streams, 3, SEXP seed, SEXP run, SEXP n)
CALL(sample, 4, SEXP distribution, SEXP n, SEXP par, SEXP seed)
CALL(rng_words, 2, SEXP state, SEXP n)
CALL(rng_unit, 1, SEXP word)
CALL(lanes_widest, 1, SEXP unit)
/* test_account_bit.c */
CALL(bit_loss, 3, SEXP alpha, SEXP shift, SEXP charge)
CALL(bit_at, 4, SEXP alpha, SEXP shift, SEXP charge, SEXP x)
/* test_estimate.c */
CALL(moving_average, 6, SEXP sizes, SEXP sums, SEXP carries, SEXP sd, SEXP seed, SEXP silent)
CALL(likelihood, 4, SEXP sizes, SEXP noisy, SEXP b, SEXP at)
/* test_kl.c */
CALL(kl, 5, SEXP what, SEXP x, SEXP y, SEXP a, SEXP n)
/* test_evidence.c */
CALL(test_means, 10, SEXP size, SEXP sum, SEXP noise, SEXP sign, SEXP theta, SEXP rival, SEXP risk,
     SEXP share, SEXP squares, SEXP weight)
CALL(test_pair, 5, SEXP size, SEXP sum, SEXP noise, SEXP margin, SEXP theta)
CALL(test_tosses, 9, SEXP p, SEXP tossed, SEXP sum, SEXP squares, SEXP noise, SEXP weight, SEXP kappa,
     SEXP permuted, SEXP strata)
CALL(test_interval, 4, SEXP size, SEXP sum, SEXP noise, SEXP alpha)
CALL(test_kappas, 4, SEXP noise, SEXP weight, SEXP floor, SEXP strata)
CALL(test_drawn, 2, SEXP noise, SEXP live)
