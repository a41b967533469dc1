/** What a player answers, and to whom. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { isLegal } from "../league_agent/chooser.js";
import { exampleCall } from "../league_agent/index.js";
import { choiceProof, replyProof } from "../league_agent/proof.js";
import { ME, message, order, request, seated } from "./referee.js";

const first = (call) => call.options[0];

describe("matches", () => {
  test("a whole match", async () => {
    const [asked, results] = [[], []];
    const choose = (call) => (asked.push(call), "even");
    const { result } = seated(choose, (match) => results.push(match));
    const joined = await result(order("GAME_INVITATION", { opponent_id: "P02" }));
    assert.deepEqual([joined.message_type, joined.accept], ["GAME_JOIN_ACK", true]);
    assert.equal(joined.conversation_id, "conv1");
    const reply = replyProof(ME.authToken, "spring", "R1M1", 1);
    assert.equal(joined.auth_token, reply);
    const chosen = await result(order("CHOOSE_PARITY_CALL", { context: { opponent_id: "P02" } }));
    assert.deepEqual([chosen.parity_choice, chosen.auth_token], ["even", reply]);
    const sealed = choiceProof(ME.authToken, "spring", "R1M1", 1, 1, "even", chosen.nonce);
    assert.equal(chosen.choice_proof, sealed);
    assert.deepEqual([asked[0].opponent, asked[0].options], ["P02", ["even", "odd"]]);
    const choices = { P01: "even", P02: "odd" };
    const over = order("GAME_OVER", {
      game_result: { choices, drawn_number: 4, reason: "4 is even" },
      results: { P01: "WIN", P02: "LOSS" },
    });
    for (const _ of [1, 2]) assert.equal((await result(over)).message_type, "GAME_OVER_ACK");
    assert.equal(results.length, 1, "told twice, counted once");
    assert.deepEqual([results[0].result, results[0].theirs], ["WIN", "odd"]);
    await result(order("GAME_INVITATION", { match_id: "R2M1" }));
    await result(order("CHOOSE_PARITY_CALL", { match_id: "R2M1" }));
    assert.deepEqual(asked.at(-1).history.map((match) => match.matchId), ["R1M1"]);
  });

  test("the same question has the same answer, also while it is being thought about", async () => {
    let asked = 0;
    let go;
    const thought = new Promise((done) => (go = done));
    const { result } = seated(async () => ((asked += 1), await thought, "odd"));
    await result(order("GAME_INVITATION"));
    const answers = [1, 2, 3].map(() => result(order("CHOOSE_PARITY_CALL")));
    go();
    const nonces = new Set((await Promise.all(answers)).map((answer) => answer.nonce));
    nonces.add((await result(order("CHOOSE_PARITY_CALL"))).nonce);
    assert.deepEqual([asked, nonces.size], [1, 1]);
  });

  test("a later attempt is chosen anew and ends the earlier one", async () => {
    const { result, refused } = seated(first);
    await result(order("GAME_INVITATION"));
    const one = await result(order("CHOOSE_PARITY_CALL"));
    await result(order("GAME_INVITATION", { attempt: 2 }));
    const two = await result(order("CHOOSE_PARITY_CALL", { attempt: 2 }));
    assert.notEqual(one.nonce, two.nonce);
    assert.equal(await refused(order("CHOOSE_PARITY_CALL")), "E030");
    assert.equal(await refused(order("GAME_INVITATION")), "E030");
    assert.equal(await refused(order("CHOOSE_PARITY_CALL", { attempt: 3 })), "G003");
    assert.equal(await refused(order("CHOOSE_PARITY_CALL", { match_id: "R9M9" })), "G003");
  });

  test("every step of another game is asked for once", async () => {
    const asked = [];
    const { result } = seated((call) => (asked.push(call), call.options[0]));
    await result(order("GAME_INVITATION"));
    const move = (step, valid_options) => {
      const move_request = { move_type: "number", valid_options, context: { turn: step } };
      return result(order("GAME_MOVE_CALL", { step, move_request }));
    };
    assert.equal((await move(1, [3, 4])).move_data, 3);
    assert.equal((await move(2, ["rock"])).move_data, "rock");
    const again = await move(1, [3, 4]);
    const sealed = choiceProof(ME.authToken, "spring", "R1M1", 1, 1, 3, again.nonce);
    assert.deepEqual([again.move_data, again.choice_proof], [3, sealed]);
    assert.deepEqual(asked.map((call) => call.step), [1, 2]);
    assert.deepEqual(asked[1].context, { turn: 2 });
  });

  test("many matches at once", async () => {
    let [begun, go] = [0, undefined];
    const all = new Promise((done) => (go = done));
    const { result } = seated(async () => ((begun += 1) === 8 && go(), await all, "odd"));
    const matches = Array.from({ length: 8 }, (_, n) => `R1M${n + 1}`);
    for (const match_id of matches) await result(order("GAME_INVITATION", { match_id }));
    const ask = (match_id) => result(order("CHOOSE_PARITY_CALL", { match_id }));
    const answers = await Promise.all(matches.map(ask));
    assert.deepEqual(answers.map((answer) => answer.match_id), matches);
  });
});

describe("trust", () => {
  test("nobody is believed without proof", async () => {
    let asked = 0;
    const { player, result, refused } = seated(() => ((asked += 1), "even"));
    let isOver = false;
    void player.leagueOver.then(() => (isOver = true));
    for (const kind of ["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"]) {
      if (kind !== "GAME_INVITATION") await result(order("GAME_INVITATION"));
      assert.equal(await refused(order(kind, { auth_token: "prf_" + "0".repeat(64) })), "E012");
      assert.equal(await refused(order(kind, { auth_token: ME.authToken })), "E012");
      assert.equal(await refused(order(kind, { sender: "referee:REF02" })), "E012");
      assert.equal(await refused(order(kind, { sender: "player:P02" })), "E012");
      assert.equal(await refused(order(kind, { auth_token: "" })), "E011");
    }
    for (const kind of ["ROUND_ANNOUNCEMENT", "LEAGUE_COMPLETED", "SUSPENSION_NOTICE"]) {
      assert.equal(await refused(message(kind, { auth_token: "tok_wrong" })), "E012");
      assert.equal(await refused(message(kind, { auth_token: null })), "E011");
    }
    assert.deepEqual([asked, isOver], [0, false]);
  });

  test("the manager is believed", async () => {
    const { player, result } = seated(first);
    assert.equal((await result(message("ROUND_ANNOUNCEMENT"))).message_type, "ACK");
    assert.equal((await result(message("PING"))).message_type, "PONG");
    await result(message("LEAGUE_COMPLETED", { final_standings: [{ rank: 1, player_id: "P01" }] }));
    await player.leagueOver;
  });

  test("the last result may come after the end", async () => {
    const { player, result } = seated(first);
    let isOver = false;
    void player.leagueOver.then(() => (isOver = true));
    await result(order("GAME_INVITATION"));
    await result(message("LEAGUE_COMPLETED"));
    assert.ok(!isOver, "a result is on its way");
    await result(order("GAME_OVER"));
    assert.ok(isOver);
  });

  test("the token is shown to nobody", async () => {
    const { desk } = seated(first);
    for (const kind of ["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "GAME_START"]) {
      const { body } = await desk.answer(request(order(kind)));
      assert.ok(!body.includes(ME.authToken), body);
    }
  });
});

describe("frames", () => {
  test("what cannot be read is refused with its code", async () => {
    const { desk } = seated(first);
    const good = JSON.parse(request(message("PING")));
    for (const [body, number, status] of [
      ["{", -32700, 400],
      [Buffer.from([0xff]), -32700, 400],
      ["NaN", -32700, 400],
      ["[".repeat(100_000), -32700, 400],
      ["[]", -32600, 400],
      ["7", -32600, 400],
      [JSON.stringify(Array(101).fill(good)), -32600, 400],
      [JSON.stringify({ ...good, id: null }), -32600, 400],
      [JSON.stringify({ ...good, jsonrpc: "1.0" }), -32600, 400],
      [JSON.stringify({ ...good, method: "fly" }), -32601, 200],
      [JSON.stringify({ ...good, method: "constructor" }), -32601, 200],
      [JSON.stringify({ ...good, params: [1] }), -32602, 200],
      [JSON.stringify({ ...good, params: {} }), -32003, 200],
    ]) {
      const answer = await desk.answer(Buffer.from(body));
      const { error } = JSON.parse(answer.body);
      assert.deepEqual([error.code, answer.status], [number, status], String(body).slice(0, 80));
    }
  });

  test("the envelope must be there", async () => {
    const { desk, refused, say } = seated(first);
    for (const field of ["message_type", "sender", "timestamp", "conversation_id", "protocol"]) {
      const params = message("PING");
      delete params[field];
      const call = { jsonrpc: "2.0", id: 1, method: "ping", params };
      const { body } = await desk.answer(Buffer.from(JSON.stringify(call)));
      assert.equal(JSON.parse(body).error.data.error_code, "E003", field);
    }
    assert.equal(await refused(message("PING", { protocol: "league.v3" })), "E018");
    assert.equal(await refused(message("PING", { conversation_id: "a b" })), "E003");
    for (const [timestamp, code] of [
      ["2025-01-15T10:30:00Z", undefined],
      ["20250115T103000Z", undefined],
      ["2025-01-15T10:30:00.123+00:00", undefined],
      ["2025-01-15T12:30:00+02:00", "E021"],
      ["2025-01-15T10:30:00", "E021"],
      ["2025-13-15T10:30:00Z", "E021"],
      ["yesterday", "E021"],
    ]) {
      const answer = await say(message("PING", { timestamp }));
      assert.equal(answer.error?.data.error_code, code, timestamp);
    }
  });

  test("ids come back and batches are answered", async () => {
    const { desk, say } = seated(first);
    for (const id of [7, "seven", 0]) assert.equal((await say(message("PING"), id)).id, id);
    const batch = `[${request(message("PING"), 1)},${request(message("PING"), 2)},3]`;
    const answers = JSON.parse((await desk.answer(Buffer.from(batch))).body);
    assert.deepEqual(answers.map((answer) => answer.id), [1, 2, null]);
  });

  test("the lower-case type is a method and unknown fields are no matter", async () => {
    const { desk } = seated(first);
    const params = order("GAME_INVITATION", { weather: "fine" });
    const call = { jsonrpc: "2.0", id: 1, method: "game_invitation", params };
    const answer = JSON.parse((await desk.answer(Buffer.from(JSON.stringify(call)))).body);
    assert.ok(answer.result.accept);
  });
});

describe("guard", () => {
  const play = async (choose, fields) => {
    const { result } = seated(choose);
    await result(order("GAME_INVITATION"));
    return (await result(order("CHOOSE_PARITY_CALL", fields))).parity_choice;
  };

  test("a function that fails or says nonsense still plays", async () => {
    const fails = () => {
      throw new Error("no idea");
    };
    for (const choose of [fails, async () => fails(), () => "maybe", () => null, () => true]) {
      assert.ok(["even", "odd"].includes(await play(choose)));
    }
  });

  test("a function that is slow still plays in time", async () => {
    const never = () => new Promise(() => {});
    assert.ok(["even", "odd"].includes(await play(never, { budget_ms: 100 })));
  });

  test("what cannot be answered is an error each time", async () => {
    const { result, say } = seated(() => null);
    await result(order("GAME_INVITATION"));
    const move_request = { move_type: "word", valid_options: [] };
    for (const _ of [1, 2]) {
      const answer = await say(order("GAME_MOVE_CALL", { move_request }));
      assert.equal(answer.error.code, -32603);
    }
  });

  test("a number is no text", () => {
    const call = exampleCall({ options: [1, 2] });
    assert.deepEqual([1, "1", true, 1.5, 2, 3].filter((move) => isLegal(move, call)), [1, 2]);
  });
});
