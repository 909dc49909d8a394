/**
 * Samples are the same for the same seed, pass the checks that receivers run (check digits, address checksums) and add
 * up to the smallest unit, so that a receiver built against the sandbox meets no surprise.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accountLayoutsOf } from '../../services/domain/catalog/account-details.ts';
import type { EventData, EventValue } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';
import {
  CHAIN_NAMES,
  eip55,
  minimumOf,
  tokenDecimals,
  tokensOf,
  validAddress,
  validBitcoinAddress,
  validEip55,
  validSolanaAddress,
  validTronAddress,
} from '../../services/samples/chains.ts';
import { makeNuban, validAba, validIban, validNuban } from '../../services/samples/check-digits.ts';
import { SampleChoiceError } from '../../services/samples/choice-error.ts';
import { fiatDecimals, toUnits } from '../../services/samples/money.ts';
import { SAMPLE_LOCALES } from '../../services/samples/names.ts';
import { type SampleOptions, sampleEvent, sampleId } from '../../services/samples/sample.ts';
import { sampleOptions } from './sample-options.ts';

const OPTIONS: SampleOptions = {
  type: 'fiatToCrypto',
  subType: 'SUCCESS',
  merchantId: 'm1',
  entityId: uuidV5('entity'),
  seed: 'samples',
  occurredAt: 1_900_000_000_000,
};

const object = (value: EventValue | undefined) => value as EventData;
const text = (value: EventValue | undefined) => value as string;

describe('the check digits of samples', () => {
  it('agree with the published vectors', () => {
    expect(validIban('DE89370400440532013000')).toBe(true);
    expect(validIban('DE89370400440532013001')).toBe(false);
    expect(validIban('GB82WEST12345698765432')).toBe(true);
    expect(makeNuban('011', '000001457')).toBe('0000014579');
    expect(validNuban('058', '0123456785')).toBe(true);
    expect(validNuban('058', '0123456786')).toBe(false);
    expect(validAba('021000021')).toBe(true);
    expect(validAba('123456789')).toBe(false);
    expect(validEip55('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48')).toBe(true);
    expect(validEip55('0xa0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48')).toBe(false);
    expect(eip55('a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48')).toBe(
      '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    );
    expect(validTronAddress('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')).toBe(true);
    expect(validTronAddress('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u')).toBe(false);
    expect(validSolanaAddress('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')).toBe(true);
    expect(validSolanaAddress('not base58: 0OIl')).toBe(false);
    expect(validBitcoinAddress('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')).toBe(true);
    expect(validBitcoinAddress('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5')).toBe(false);
  });
});

describe('the sample events', () => {
  it('are the same for the same options, and others for another seed', () => {
    fc.assert(
      fc.property(sampleOptions, (options) => {
        expect(sampleEvent(options)).toEqual(sampleEvent(options));
        const other = sampleEvent({ ...options, seed: `${options.seed}!` });
        expect(other.eventId).not.toBe(sampleEvent(options).eventId);
      }),
    );
  });

  it('equal the golden values, so that recorded scenarios stay true', () => {
    const { eventId, data } = sampleEvent(OPTIONS);
    expect({ eventId, data }).toMatchInlineSnapshot(`
      {
        "data": {
          "amountCrypto": "582.523224",
          "amountFiat": "548",
          "chain": "polygon",
          "currencyCrypto": "USDC",
          "currencyFiat": "EUR",
          "fees": "8.22",
          "internalBankAccountId": "e9a944b8-cf3b-57a7-a7c9-dc3b0efd71be",
          "senderDetails": {
            "accountDetails": {
              "currency": "EUR",
              "iban": "FR7624367655341952469965710",
            },
            "senderCountry": "FR",
            "senderName": "Amara Keller",
          },
          "sendingWalletAddress": "0x222bb7601BE95C1f5E419605571EF1e31c4012F8",
          "status": "SUCCESS",
          "transactionHash": "0x1a8893cd96dc12fc284d5275a0eca30d03fdc74c342794dd69694b46f9fe530f",
          "transactionUuid": "ab60cba6-cf2f-595b-b0f5-45384ffd7707",
          "walletAddress": "0x31F729917BbE4ADEA8879981a370E6a28d53A671",
        },
        "eventId": "7ed29578-3642-583d-ab65-5ce748f7bf23",
      }
    `);
  });

  it('have addresses and hashes of their chain', () => {
    fc.assert(
      fc.property(fc.constantFrom(...CHAIN_NAMES), fc.string(), (chain, seed) => {
        const { data } = sampleEvent({ ...OPTIONS, seed, entityId: uuidV5(seed), choices: { chain } });
        expect(validAddress(chain, text(data.walletAddress))).toBe(true);
        expect(validAddress(chain, text(data.sendingWalletAddress))).toBe(true);
        const hashes = /^(?:0x[0-9a-f]{64}|[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{80,90})$/;
        expect(data.transactionHash).toMatch(hashes);
      }),
    );
  });

  it('have bank accounts that pass their checks, in the layout of their currency', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('EUR', 'GBP', 'USD', 'NGN', 'KES', 'VND'),
        fc.string(),
        (currencyFiat, seed) => {
          const { data } = sampleEvent({ ...OPTIONS, seed, choices: { currencyFiat } });
          const details = object(object(data.senderDetails).accountDetails);
          const { currency, ...rest } = details;
          expect(currency).toBe(currencyFiat);
          expect(accountLayoutsOf(currencyFiat)).toContainEqual(Object.keys(rest));
          if (currencyFiat === 'EUR') expect(validIban(text(details.iban))).toBe(true);
          if (currencyFiat === 'USD') expect(validAba(text(details.routingNumber))).toBe(true);
          if (currencyFiat === 'GBP')
            expect(details).toMatchObject({ sortCode: expect.stringMatching(/^\d{6}$/) });
          if (currencyFiat === 'NGN') {
            expect(validNuban(text(details.bankCode), text(details.accountNumber))).toBe(true);
          }
        },
      ),
    );
  });

  it('share ids, amounts and accounts through a transaction’s subTypes', () => {
    const at = (subType: string) => sampleEvent({ ...OPTIONS, subType, seed: subType, subject: 'tx1' });
    const [pending, issued, done] = [at('PENDING'), at('CRYPTO_TRANSFER_ISSUED'), at('SUCCESS')];
    expect(new Set([pending.eventId, issued.eventId, done.eventId]).size).toBe(3);
    expect(done.data).toEqual({ ...issued.data, status: 'SUCCESS' });
    expect(done.data).toMatchObject({ ...pending.data, status: 'SUCCESS' });
    expect(sampleId(OPTIONS.entityId, 'tx1', 'transaction')).toBe(done.data.transactionUuid);
  });
});

describe('the amounts of sample events', () => {
  const amounts = fc.integer({ min: 100, max: 10_000_000 });

  it('add up on the way in: crypto is the rest after fees, at one rate, rounded down', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...CHAIN_NAMES),
        fc.constantFrom('EUR', 'VND', 'NGN'),
        amounts,
        (chain, currencyFiat, cents) => {
          const places = fiatDecimals(currencyFiat);
          const amount =
            places === 0
              ? String(cents)
              : `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
          const { data } = sampleEvent({ ...OPTIONS, choices: { chain, currencyFiat, amount } });
          const token = tokenDecimals(chain, text(data.currencyCrypto));
          const net = toUnits(text(data.amountFiat), places) - toUnits(text(data.fees), places);
          const crypto = toUnits(text(data.amountCrypto), token);
          expect(toUnits(text(data.amountFiat), places)).toBe(toUnits(amount, places));
          // The rate of the same subject does not depend on the amount: ten thousand times the net gives its digits.
          const large = sampleEvent({
            ...OPTIONS,
            choices: { chain, currencyFiat, amount: '1000000000000' },
          }).data;
          const largeNet = toUnits(text(large.amountFiat), places) - toUnits(text(large.fees), places);
          const expected = (toUnits(text(large.amountCrypto), token) * net) / largeNet;
          expect(crypto - expected).toBeGreaterThanOrEqual(-1n);
          expect(crypto - expected).toBeLessThanOrEqual(1n);
          expect(net > 0n && crypto >= 0n).toBe(true);
        },
      ),
    );
  });

  it('add up on the way out, and refund no more than was received', () => {
    fc.assert(
      fc.property(fc.constantFrom(...CHAIN_NAMES), fc.string(), (chain, seed) => {
        const at = (subType: string) =>
          sampleEvent({ ...OPTIONS, type: 'cryptoToFiat', subType, seed, subject: seed, choices: { chain } })
            .data;
        const [done, refunded, breached] = [at('SUCCESS'), at('REFUNDED'), at('LIMIT_BREACHED')];
        const units = (value: EventValue | undefined) =>
          toUnits(text(value), tokenDecimals(chain, text(done.currencyCrypto)));
        expect(units(done.fees)).toBeLessThan(units(done.amountCrypto));
        const net = units(done.amountCrypto) - units(done.fees);
        // In ten-thousandths of a euro per dollar: 0.92 and a spread of at most one percent; a token is worth a
        // dollar, or on Bitcoin 64,000.
        const worth = (tenThousandths: bigint) => {
          const perToken = tenThousandths * (chain === 'bitcoin' ? 64_000n : 1n);
          const one = toUnits('1', tokenDecimals(chain, text(done.currencyCrypto)));
          return (net * perToken * 100n) / (one * 10_000n);
        };
        expect(toUnits(text(done.amountFiat), 2)).toBeGreaterThanOrEqual(worth(9_200n));
        expect(toUnits(text(done.amountFiat), 2)).toBeLessThanOrEqual(worth(9_292n));
        expect(units(refunded.amountRefunded)).toBeLessThanOrEqual(units(refunded.amountCrypto));
        expect(units(breached.amountCrypto)).toBeLessThan(units(breached.limit));
        expect(breached.limit).toBe(minimumOf(chain));
      }),
    );
  });

  it('respect the minimums: 1, on TRON 5, on Ethereum 20', () => {
    expect(['polygon', 'bsc', 'solana', 'tron', 'ethereum'].map(minimumOf)).toEqual([
      '1',
      '1',
      '1',
      '5',
      '20',
    ]);
    expect(tokenDecimals('bsc', 'USDT')).toBe(18);
    expect(tokenDecimals('tron', 'USDT')).toBe(6);
  });
});

describe('the choices for a sample event', () => {
  it('shape the event', () => {
    const pull = sampleEvent({ ...OPTIONS, choices: { linkedBankAccountUuid: OPTIONS.entityId } });
    expect(pull.data.linkedBankAccountUuid).toBe(OPTIONS.entityId);
    const dollars = sampleEvent({ ...OPTIONS, choices: { currencyFiat: 'USD' } });
    const link = sampleEvent({ ...OPTIONS, type: 'linkBankAccount', subType: 'statusUpdate' });
    expect(dollars.data.linkedBankAccountUuid).toBe(link.data.uuid);
    const ledger = { ...OPTIONS, type: 'serviceBankAccount', subType: 'statusUpdate' } as const;
    const failed = sampleEvent({ ...ledger, choices: { status: 'FAILED_CREATION' } });
    expect(failed.data).toHaveProperty('error');
    expect(failed.data).not.toHaveProperty('iban');
    const hold = sampleEvent({ ...OPTIONS, subType: 'ON_HOLD', choices: { status: 'ON_HOLD_PROCESS' } });
    expect(hold.data.status).toBe('ON_HOLD_PROCESS');
    const screening = sampleEvent({
      ...OPTIONS,
      type: 'AML',
      subType: 'AML_CHECKS_FAILED',
      choices: { screens: 'TRANSACTION' },
    });
    expect(screening.data.transactionUuid).toBe(sampleEvent(OPTIONS).data.transactionUuid);
  });

  it('are ACH pulls when they are in dollars, from the account that the same subject links', () => {
    const onRamp = (currencyFiat: string) =>
      sampleEvent({ ...OPTIONS, type: 'fiatToCrypto', subType: 'SUCCESS', choices: { currencyFiat } }).data;
    const link = sampleEvent({ ...OPTIONS, type: 'linkBankAccount', subType: 'statusUpdate' });
    expect(onRamp('USD').linkedBankAccountUuid).toBe(link.data.uuid);
    expect(onRamp('EUR')).not.toHaveProperty('linkedBankAccountUuid');
  });

  it('keep names ASCII unless a locale is chosen', () => {
    for (let i = 0; i < 50; i += 1) {
      const { data } = sampleEvent({ ...OPTIONS, entityId: uuidV5('name', String(i)) });
      expect(object(data.senderDetails).senderName).toMatch(/^[\x20-\x7e]+$/);
    }
    for (const locale of SAMPLE_LOCALES)
      expect(() => sampleEvent({ ...OPTIONS, choices: { locale } })).not.toThrow();
  });

  it.each([
    ['chain', { chain: 'dogechain' }, /polygon/],
    ['token', { chain: 'tron', token: 'USDC' }, /USDT/],
    ['currency', { currencyFiat: 'XYZ' }, /EUR/],
    ['country', { currencyFiat: 'EUR', country: 'US' }, /DE/],
    ['amount', { amount: '1e3' }, /plain decimal/],
    ['amount', { amount: '0' }, /more than 0/],
    ['amount', { amount: '1.234' }, /2 digits/],
    ['status', { status: 'ON_HOLD' }, /SUCCESS/],
  ])('are refused with an impossible %s', (_, choices, message) => {
    expect(() => sampleEvent({ ...OPTIONS, choices })).toThrow(SampleChoiceError);
    expect(() => sampleEvent({ ...OPTIONS, choices })).toThrow(message);
  });

  it('are refused for an amount on the wrong side of the minimum, a wrong subType or a wrong entity', () => {
    const offRamp = { ...OPTIONS, type: 'cryptoToFiat' } as const;
    const breach = { ...offRamp, subType: 'LIMIT_BREACHED', choices: { amount: '1' } };
    expect(() => sampleEvent(breach)).toThrow(/below the minimum of 1 USDC on polygon/);
    expect(() => sampleEvent({ ...offRamp, choices: { amount: '0.5' } })).toThrow(/at least the minimum/);
    expect(() => sampleEvent({ ...OPTIONS, subType: 'DONE' })).toThrow(/PENDING, IN_PROGRESS/);
    expect(() => sampleEvent({ ...OPTIONS, type: 'KYB', subType: 'ACTIVE', entityKind: 'USER' })).toThrow(
      /CORPORATE/,
    );
    expect(tokensOf('base')).toEqual(['USDC']);
  });
});
