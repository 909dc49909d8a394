import type { EventData } from '../domain/event.ts';
import { Chance } from './chance.ts';
import { corporateName, emailAddress } from './names.ts';
import type { SampleThing } from './sample-thing.ts';

/** Statuses of a user who can be asked for documents again, or has not yet been asked. */
const CAN_RETRY = ['KYC_NEEDED', 'PENDING_KYC_DATA', 'SOFT_KYC_FAILED'];

export function kycData(thing: SampleThing): EventData {
  const { subType } = thing;
  const isHard = subType === 'HARD_KYC_FAILED';
  return {
    docs_missing:
      subType === 'SOFT_KYC_FAILED'
        ? [{ docType: 'PASSPORT', docSubType: 'FRONT_SIDE' }]
        : [{ docType: 'SELFIE' }, { docType: 'ID_CARD', docSubType: 'BACK_SIDE' }],
    kyc_reject_label: isHard ? ['FORGERY'] : ['BAD_PHOTO', 'EXPIRED_DOCUMENT'],
    kyc_enduser_error_message: 'The photo is too dark to read. Please take it again in daylight.',
    can_retry: CAN_RETRY.includes(subType),
    attempt: subType === 'KYC_NEEDED' || subType === 'PENDING_KYC_DATA' ? 0 : 1,
    updated_at: thing.time,
  };
}

export function kybData(thing: SampleThing): EventData {
  const chance = new Chance('kyb', thing.entityId);
  const country = thing.choices.country ?? 'DE';
  return {
    legal_name: corporateName(thing.entityId, country),
    registration_number: `HR${chance.digits(6)}`,
    country,
    rejection_reasons: [
      {
        code: 'OWNERSHIP_NOT_PROVEN',
        message: 'The ownership structure could not be proven from the documents.',
      },
    ],
    associated_persons: (['DIRECTOR', 'UBO'] as const).map((role) => ({
      uuid: thing.entityPart(role),
      role,
      kyc_status: thing.subType === 'ACTIVE' ? 'FULL_USER' : 'KYC_PENDING',
    })),
    updated_at: thing.time,
  };
}

export function amlData(thing: SampleThing): EventData {
  const subject = thing.choices.screens ?? 'ENTITY';
  return {
    screeningUuid: thing.id('screening'),
    subject,
    ...(subject === 'TRANSACTION' ? { transactionUuid: thing.id('transaction') } : {}),
    updatedAt: thing.time,
  };
}

export function duplicateUserData(thing: SampleThing): EventData {
  return {
    matchedOn: ['DOCUMENT', 'NAME_DOB'],
    existingUserUuid: thing.entityPart('existing-user'),
    detectedAt: thing.time,
  };
}

export function entityStatusUpdateData(thing: SampleThing): EventData {
  const reasons: Readonly<Record<string, string>> = {
    BLOCKED: 'Blocked after a compliance review',
    MISSING_TERMS_AND_CONDITIONS_SIGNED: 'The validation hashes of the terms and conditions are missing',
  };
  const reason = reasons[thing.subType];
  return { uuid: thing.entityId, ...(reason === undefined ? {} : { reason }) };
}

export function otpNotificationData(thing: SampleThing): EventData {
  const address = emailAddress(thing.entityId);
  return {
    failureType: 'BOUNCE',
    emailAddress: address,
    diagnosticCode: `smtp; 550 5.1.1 <${address}>: Recipient address rejected: User unknown`,
    timestamp: thing.time,
  };
}
