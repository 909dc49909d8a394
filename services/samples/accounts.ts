import type { EventData } from '../domain/event.ts';
import { countriesOf, currencyOf, sampleAccount } from './bank-accounts.ts';
import { tokensOf } from './chains.ts';
import { Chance } from './chance.ts';
import type { SampleThing } from './sample-thing.ts';
import { walletAddressOf } from './transaction.ts';

/** Returns a ledger's data: its account is shown once it exists, in the fields of its currency. */
export function serviceBankAccountData(thing: SampleThing): EventData {
  const { choices } = thing;
  const chance = new Chance('ledger', thing.entityId, thing.subject);
  const currency =
    choices.currencyFiat ?? (choices.country === undefined ? 'EUR' : currencyOf(choices.country));
  const country = choices.country ?? chance.pick(countriesOf(currency));
  const status = choices.status ?? 'ACTIVE';
  const isThere = status === 'ACTIVE' || status === 'DISABLED';
  return {
    uuid: thing.id('ledger'),
    currency,
    bank_country: country,
    ...(isThere ? ledgerAccount(currency, country, chance) : {}),
    status,
    ...(status === 'FAILED_CREATION'
      ? { error: 'The bank could not create the account; it can be asked for again' }
      : {}),
  };
}

function ledgerAccount(currency: string, country: string, chance: Chance): EventData {
  const { details, bic, bankName } = sampleAccount(currency, country, chance);
  const fields: EventData = { bank_name: bankName };
  if (details.iban !== undefined) return { ...fields, iban: details.iban, bic };
  if (details.accountNumber !== undefined) fields.account_number = details.accountNumber;
  if (details.sortCode !== undefined) fields.sort_code = details.sortCode;
  const bankCode = details.bankCode ?? details.routingNumber;
  if (bankCode !== undefined) fields.bank_code = bankCode;
  // A ledger is a bank account, so it has a number even where payouts may be mobile money.
  if (details.phoneNumber !== undefined) fields.account_number = chance.digits(12);
  if (currency !== 'GBP') fields.swift_code = bic;
  return fields;
}

export function linkedBankAccountProfileData(thing: SampleThing): EventData {
  const status = thing.choices.status ?? 'ACTIVE';
  const error = 'The profile could not be created: the name does not match the bank’s records';
  return { uuid: thing.id('profile'), status, ...(status === 'FAILED_CREATION' ? { error } : {}) };
}

export function linkBankAccountData(thing: SampleThing): EventData {
  const status = thing.choices.status ?? 'ACTIVE';
  const error = 'Invalid account type: only checking accounts can be linked';
  return { uuid: thing.id('linked-account'), status, ...(status === 'FAILED' ? { error } : {}) };
}

export function walletCreatedData(thing: SampleThing): EventData {
  const chain = thing.choices.chain ?? 'polygon';
  return {
    uuid: thing.id('wallet'),
    chain,
    address: walletAddressOf(thing.entityId, chain),
    tokens: thing.choices.token === undefined ? [...tokensOf(chain)] : [thing.choices.token],
    createdAt: thing.time,
  };
}
