/** Guarantee: a key opens what is its merchant's, and nothing else (test/contract/api/access-suite.ts); one api. */
import { expect, test } from 'vitest';
import { accessSuite, CASES } from '../contract/api/access-suite.ts';
import { exampleBody, keySchemeOf } from '../support/api/openapi-check.ts';
import { startTestApi } from '../support/api/test-api.ts';
import { KEYS } from '../support/api/wrong-keys.ts';
import { NOT_FOUND } from '../support/models/owned-ids.ts';

test('every operation can be tested: its ids and keys are known, and its body has an example', () => {
  for (const { name, operation, parameters } of CASES) {
    for (const parameter of parameters) {
      const advice = `${name}: say in test/support/models/owned-ids.ts how a {${parameter}} comes to be and what an unknown one is answered`;
      expect(Object.keys(NOT_FOUND), advice).toContain(parameter);
    }
    expect(
      Object.keys(KEYS),
      `${name}: say in test/support/api/wrong-keys.ts which keys do not open it`,
    ).toContain(keySchemeOf(operation));
    if (operation.requestBody?.required)
      expect(exampleBody(operation), `${name}: give its body an example in openapi.yaml`).toBeDefined();
  }
});

accessSuite(startTestApi);
