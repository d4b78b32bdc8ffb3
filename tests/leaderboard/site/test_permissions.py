"""Who may do what, on every route: the one table that says it, held against the site.

A route without a row fails with its name. Whoever may not know that something exists gets, byte for byte, what they
would get where there is nothing.
"""

import fnmatch
from dataclasses import dataclass
from datetime import timedelta
from functools import cache as once
from itertools import accumulate
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver, resolve, reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.accounts.people import invite
from leaderboard.benchmarks.drafts import make_benchmark_draft
from leaderboard.benchmarks.forms import SettingsForm
from leaderboard.benchmarks.forms_tasks import ProposalForms
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.benchmarks.tasks import Proposal, TaskEdit, present_proposal
from leaderboard.models import Benchmark, Job, User, Webhook
from leaderboard.models.submissions import Source
from leaderboard.notifications.mails import unsubscribe_link
from leaderboard.studies.forms import StudiesForm
from leaderboard.studies.plans import choices_of
from leaderboard.submissions.drafts import RawRow, make_draft
from leaderboard.submissions.lifecycle import accept_batch, take_batch
from tests.factories import Factory
from tests.markup import compact

# Kinds of user. The submitter uploaded an accepted batch, a pending batch and a draft; on the private benchmark they
# did so as a member and are none any more, so that what they once could see is closed to them too.
USERS = ["anonymous", "stranger", "submitter", "member", "moderator", "owner", "staff"]
# A number is the status; `login` is a redirect to signing in, `admin` one to the admin's own; a name after `->` is the
# route that the answer redirects to. `ruled` is whatever each model's admin says to staff (`test_admin.py`).
# A visibility may be `any`, `listed` (public and unlisted) or `-` where no benchmark is concerned. What stands behind
# `~` is a variant of the route: another batch, another policy. A `*` stands for the models of the admin, `=` for the
# answer on its left.
TABLE = """
route                                method visibility anonymous stranger submitter member   moderator owner    staff
home                                 GET    any        200       200      200       200      200       200      200
home                                 POST   any        405       405      405       405      405       405      405
landscape                            GET    any        200       200      200       200      200       200      200
landscape                            POST   any        405       405      405       405      405       405      405
rules                                GET    any        200       200      200       200      200       200      200
rules                                POST   any        405       405      405       405      405       405      405
rule_page                            GET    any        200       200      200       200      200       200      200
rule_page                            POST   any        405       405      405       405      405       405      405
choose_rule                          GET    any        200       200      200       200      200       200      200
choose_rule                          POST   any        405       405      405       405      405       405      405
documents                            GET    any        200       200      200       200      200       200      200
documents                            POST   any        405       405      405       405      405       405      405
document                             GET    any        200       200      200       200      200       200      200
document                             POST   any        405       405      405       405      405       405      405
document_file                        GET    any        200       200      200       200      200       200      200
document_file                        POST   any        405       405      405       405      405       405      405
try                                  GET    any        200       200      200       200      200       200      200
try                                  POST   any        200       =        =         =        =         =        =
compare                              GET    any        200       200      200       200      200       200      200
compare                              POST   any        405       405      405       405      405       405      405
papers                               GET    any        200       200      200       200      200       200      200
papers                               POST   any        405       405      405       405      405       405      405
papers_json                          GET    any        200       200      200       200      200       200      200
papers_json                          POST   any        405       405      405       405      405       405      405
status                               GET    any        200       200      200       200      200       200      200
status                               POST   any        405       405      405       405      405       405      405
styleguide                           GET    any        404       404      404       404      404       404      404
styleguide                           POST   any        405       405      405       405      405       405      405
healthz                              GET    any        200       200      200       200      200       200      200
healthz                              POST   any        405       405      405       405      405       405      405
readyz                               GET    any        503       503      503       503      503       503      503
readyz                               POST   any        405       405      405       405      405       405      405
metrics                              GET    any        404       404      404       404      404       404      404
metrics                              POST   any        405       405      405       405      405       405      405
board                                GET    public     200       200      200       200      200       200      200
board                                GET    unlisted   200       200      200       200      200       200      200
board                                GET    private    404       404      404       200      200       200      404
board                                POST   any        405       405      405       405      405       405      405
board_csv                            GET    public     200       200      200       200      200       200      200
board_csv                            GET    unlisted   200       200      200       200      200       200      200
board_csv                            GET    private    404       404      404       200      200       200      404
board_csv                            POST   any        405       405      405       405      405       405      405
board_download                       GET    public     200       200      200       200      200       200      200
board_download                       GET    unlisted   200       200      200       200      200       200      200
board_download                       GET    private    404       404      404       200      200       200      404
board_download                       POST   any        405       405      405       405      405       405      405
export                               GET    public     200       200      200       200      200       200      200
export                               GET    unlisted   200       200      200       200      200       200      200
export                               GET    private    404       404      404       200      200       200      404
export~folder                        GET    listed     200       200      200       200      200       200      200
export~folder                        GET    private    404       404      404       200      200       200      404
export~orders                        GET    private    404       404      404       200      200       200      404
export                               POST   any        405       405      405       405      405       405      405
rule                                 GET    public     200       200      200       200      200       200      200
rule                                 GET    unlisted   200       200      200       200      200       200      200
rule                                 GET    private    404       404      404       200      200       200      404
rule                                 POST   any        405       405      405       405      405       405      405
system                               GET    public     200       200      200       200      200       200      200
system                               GET    unlisted   200       200      200       200      200       200      200
system                               GET    private    404       404      404       200      200       200      404
system                               POST   any        405       405      405       405      405       405      405
system~pending                       GET    any        404       404      404       404      404       404      404
head_to_head                         GET    public     200       200      200       200      200       200      200
head_to_head                         GET    unlisted   200       200      200       200      200       200      200
head_to_head                         GET    private    404       404      404       200      200       200      404
head_to_head                         POST   any        405       405      405       405      405       405      405
agreement                            GET    public     200       200      200       200      200       200      200
agreement                            GET    unlisted   200       200      200       200      200       200      200
agreement                            GET    private    404       404      404       200      200       200      404
agreement                            POST   any        405       405      405       405      405       405      405
history_compare                      GET    public     200       200      200       200      200       200      200
history_compare                      GET    unlisted   200       200      200       200      200       200      200
history_compare                      GET    private    404       404      404       200      200       200      404
history_compare                      POST   any        405       405      405       405      405       405      405
prospects                            GET    public     200       200      200       200      200       200      200
prospects                            GET    unlisted   200       200      200       200      200       200      200
prospects                            GET    private    404       404      404       200      200       200      404
prospects                            POST   any        405       405      405       405      405       405      405
prospects~asked                      GET    public     200       200      200       200      200       200      200
prospects~asked                      GET    private    404       404      404       200      200       200      404
what_if                              GET    public     200       200      200       200      200       200      200
what_if                              GET    unlisted   200       200      200       200      200       200      200
what_if                              GET    private    404       404      404       200      200       200      404
what_if                              POST   any        405       405      405       405      405       405      405
what_if~weighed                      GET    public     200       200      200       200      200       200      200
what_if~weighed                      GET    private    404       404      404       200      200       200      404
what_if_data                         GET    public     200       200      200       200      200       200      200
what_if_data                         GET    unlisted   200       200      200       200      200       200      200
what_if_data                         GET    private    404       404      404       200      200       200      404
what_if_data                         POST   any        405       405      405       405      405       405      405
what_if_profiles                     GET    any        login     405      405       405      405       405      405
what_if_profiles POST listed login     ->what_if = = = = =
what_if_profiles POST private login     404      404       ->what_if = = 404
what_if_profiles~publish POST public login     ->what_if = = = = =
badge                                GET    listed     200       =        =         =        =         =        =
badge                                GET    private    404       =        =         =        =         =        =
badge                                GET    veiled     200       =        =         =        =         =        =
badge                                POST   any        405       =        =         =        =         =        =
system_badge                         GET    listed     200       =        =         =        =         =        =
system_badge                         GET    private    404       =        =         =        =         =        =
system_badge                         GET    veiled     200       =        =         =        =         =        =
system_badge                         POST   any        405       =        =         =        =         =        =
system_badge~pending                 GET    any        404       =        =         =        =         =        =
system_badge~approved                GET    embargoed  404       =        =         =        =         =        =
embed                                GET    public     200       =        =         =        =         =        =
embed                                GET    unlisted   404       =        =         =        =         =        =
embed                                GET    private    404       =        =         =        =         =        =
embed                                GET    veiled     200       =        =         =        =         =        =
embed                                POST   any        405       =        =         =        =         =        =
card                                 GET    listed     200       =        =         =        =         =        =
card                                 GET    private    404       =        =         =        =         =        =
card                                 GET    veiled     200       =        =         =        =         =        =
card                                 POST   any        405       =        =         =        =         =        =
feed                                 GET    listed     200       =        =         =        =         =        =
feed                                 GET    private    404       =        =         =        =         =        =
feed                                 GET    veiled     200       =        =         =        =         =        =
feed                                 POST   any        405       =        =         =        =         =        =
feed_of_all                          GET    any        200       =        =         =        =         =        =
feed_of_all                          POST   any        405       =        =         =        =         =        =
stability                            GET    public     200       200      200       200      200       200      200
stability                            GET    unlisted   200       200      200       200      200       200      200
stability                            GET    private    404       404      404       200      200       200      404
stability                            POST   any        405       405      405       405      405       405      405
instances                            GET    public     200       200      200       200      200       200      200
instances                            GET    unlisted   200       200      200       200      200       200      200
instances                            GET    private    404       404      404       200      200       200      404
instances                            POST   any        405       405      405       405      405       405      405
distribution                         GET    any        404       404      404       404      404       404      404
distribution                         POST   any        405       405      405       405      405       405      405
submit                               GET    public     login     200      200       200      200       200      200
submit                               GET    unlisted   login     200      200       200      200       200      200
submit                               GET    private    login     404      404       200      200       200      404
submit                               POST   public     login     ->draft  ->draft   ->draft  ->draft   ->draft  ->draft
submit                               POST   unlisted   login     ->draft  ->draft   ->draft  ->draft   ->draft  ->draft
submit                               POST   private    login     404      404       ->draft  ->draft   ->draft  404
submit~owners                        GET    public     login     403      403       403      403       200      403
submit~owners                        POST   public     login     403      403       403      403       ->draft  403
submit~owners                        GET    private    login     404      404       403      403       200      404
submit~closed                        GET    listed     login     403      403       403      403       403      403
submit~closed                        POST   listed     login     403      403       403      403       403      403
upload                               GET    public     login     200      200       200      200       200      200
upload                               GET    unlisted   login     200      200       200      200       200      200
upload                               GET    private    login     404      404       200      200       200      404
upload~owners                        GET    public     login     403      403       403      403       200      403
upload~owners                        GET    private    login     404      404       403      403       200      404
upload~closed                        GET    listed     login     403      403       403      403       403      403
upload                               POST   public     login     ->draft  ->draft   ->draft  ->draft   ->draft  ->draft
upload                               POST   unlisted   login     ->draft  ->draft   ->draft  ->draft   ->draft  ->draft
upload                               POST   private    login     404      404       ->draft  ->draft   ->draft  404
upload~owners                        POST   public     login     403      403       403      403       ->draft  403
upload~closed                        POST   listed     login     403      403       403      403       403      403
correct                              GET    listed     login     404      200       404      200       200      404
correct                              GET    private    login     404      404       404      200       200      404
correct                              GET    veiled     login     404      200       404      200       200      404
correct                              POST   listed     login     404      ->draft   404      ->draft   ->draft  404
correct                              POST   private    login     404      404       404      ->draft   ->draft  404
takedown                             GET    listed     login     403      403       403      403       200      200
takedown                             GET    private    login     404      404       403      403       200      200
takedown                             GET    ranks      login     404      403       404      403       200      200
takedown                             POST   listed     login     403      403       403      403       ->board  ->board
takedown                             POST   private    login     404      404       403      403       ->board  ->board
takedown~pending                     GET    public     login     404      403       404      403       200      200
close_account                        GET    -          login     ->reauthenticate = =        =         =        =
close_account                        POST   -          login     ->reauthenticate = =        =         =        =
history                              GET    public     200       200      200       200      200       200      200
history                              GET    unlisted   200       200      200       200      200       200      200
history                              GET    private    404       404      404       200      200       200      404
history                              POST   any        405       405      405       405      405       405      405
release                              GET    public     200       200      200       200      200       200      200
release                              GET    unlisted   200       200      200       200      200       200      200
release                              GET    private    404       404      404       200      200       200      404
release                              POST   any        405       405      405       405      405       405      405
manage                               GET    listed     login     403      403       403      403       200      403
manage                               GET    private    login     404      404       403      403       200      404
manage                               POST   listed     login     403      403       403      403       ->manage 403
manage                               POST   private    login     404      404       403      403       ->manage 404
manage_tasks                         GET    listed     login     403      403       403      403       200      403
manage_tasks                         GET    private    login     404      404       403      403       200      404
manage_tasks                         POST   listed     login     403      403       403      403       200      403
manage_tasks                         POST   private    login     404      404       403      403       200      404
manage_releases                      GET    listed     login     403      403       403      403       200      403
manage_releases                      GET    private    login     404      404       403      403       200      404
manage_releases                      POST   listed     login     403      403       403      403       ->release 403
manage_releases                      POST   private    login     404      404       403      403       ->release 404
manage_studies                       GET    listed     login     403      403       403      403       200      403
manage_studies                       GET    private    login     404      404       403      403       200      404
manage_studies POST listed login     403      403       403      403       ->manage_studies 403
manage_studies POST private login     404      404       403      403       ->manage_studies 404
run_study                            GET    any        login     405      405       405      405       405      405
run_study POST listed login     403      403       403      403       ->manage_studies 403
run_study POST private login     404      404       403      403       ->manage_studies 404
manage_queue                         GET    listed     login     403      403       403      200       200      403
manage_queue                         GET    private    login     404      404       403      200       200      404
manage_queue                         GET    veiled     login     403      403       403      200       200      403
manage_queue                         POST   listed     login     403      403       403      ->manage_queue = 403
manage_queue                         POST   private    login     404      404       403      ->manage_queue = 404
manage_decide                        GET    listed     login     403      403       403      200       200      403
manage_decide                        GET    private    login     404      404       403      200       200      404
manage_decide                        POST   listed     login     403      403       403      ->manage_queue = 403
manage_decide                        POST   private    login     404      404       403      ->manage_queue = 404
manage_people                        GET    listed     login     403      403       403      403       200      403
manage_people                        GET    private    login     404      404       403      403       200      404
manage_people                        POST   listed     login     403      403       403      403       200      403
manage_people                        POST   private    login     404      404       403      403       200      404
manage_webhooks                      GET    listed     login     403      403       403      403       200      403
manage_webhooks                      GET    private    login     404      404       403      403       200      404
manage_webhooks                      GET    veiled     login     403      403       403      403       200      403
manage_webhooks POST listed  login  403 403 403 403 ->reauthenticate 403
manage_webhooks POST private login  404 404 403 403 ->reauthenticate 404
manage_webhooks~test POST listed login     403      403       403      403       ->manage_webhooks 403
manage_webhooks~test POST private login     404      404       403      403       ->manage_webhooks 404
manage_audit                         GET    listed     login     403      403       403      403       200      403
manage_audit                         GET    private    login     404      404       403      403       200      404
manage_audit                         POST   any        login     405      405       405      405       405      405
manage_audit_csv                     GET    listed     login     403      403       403      403       200      403
manage_audit_csv                     GET    private    login     404      404       403      403       200      404
manage_audit_csv                     POST   any        login     405      405       405      405       405      405
join                                 GET    private    login     200      200       200      200       200      200
join                                 POST   private    login     ->board  =         =        =         =        =
batch_step                           GET    any        login     405      405       405      405       405      405
batch_step                           POST   listed     login     403      403       403      ->batch   ->batch  403
batch_step                           POST   private    login     404      404       403      ->batch   ->batch  404
batch_step~pending                   POST   public     login     404      ->batch   404      ->batch   ->batch  404
compute_board                        GET    any        login     405      405       405      405       405      405
compute_board                        POST   listed     login     403      403       403      403       ->board  403
compute_board                        POST   private    login     404      404       403      403       ->board  404
compute_ranks                        GET    any        login     405      405       405      405       405      405
compute_ranks                        POST   listed     login     403      403       403      403       ->history 403
compute_ranks                        POST   private    login     404      404       403      403       ->history 404
manage_edition                       GET    any        login     405      405       405      405       405      405
manage_edition                       POST   listed     login     403      403       403      403       ->manage 403
manage_edition                       POST   private    login     404      404       403      403       ->manage 404
manage_clusters                      GET    any        login     405      405       405      405       405      405
manage_clusters                      POST   listed     login     403      403      403      403     ->manage_tasks 403
manage_clusters                      POST   private    login     404      404      403      403     ->manage_tasks 404
manage_archive                       GET    any        login     405      405       405      405       405      405
manage_archive                       POST   listed     login     403      403       403      403       ->manage 403
manage_archive                       POST   private    login     404      404       403      403       ->manage 404
new                                  GET    -          login     200      200       200      200       200      200
new                                  POST   -          login     ->new_draft = =        =         =        =
new_draft                            GET    -          login     404      200       404      404       404      404
new_draft                            POST   -          login     404      ->board   404      404       404      404
new_draft~discard                    POST   -          login     404      ->new     404      404       404      404
board                                GET    veiled     200       200      200       200      200       200      200
board_csv                            GET    veiled     200       200      200       200      200       200      200
board_download                       GET    veiled     200       200      200       200      200       200      200
export                               GET    ranks      403       403      403       403      200       200      403
export~folder                        GET    ranks      403       403      403       403      200       200      403
rule                                 GET    ranks      403       403      403       403      200       200      403
head_to_head                         GET    ranks      403       403      403       403      200       200      403
agreement                            GET    ranks      403       403      403       403      200       200      403
history_compare                      GET    ranks      403       403      403       403      200       200      403
prospects                            GET    ranks      403       403      403       403      200       200      403
what_if                              GET    ranks      403       403      403       403      200       200      403
what_if~weighed                      GET    ranks      403       403      403       403      200       200      403
what_if_data                         GET    ranks      403       403      403       403      200       200      403
what_if_profiles                     POST   ranks      login     403      403       403      ->what_if = 403
stability                            GET    ranks      403       403      403       403      200       200      403
instances                            GET    ranks      403       403      403       403      200       200      403
distribution                         GET    ranks      403       403      403       403      404       404      403
system                               GET    ranks      404       404      200       404      200       200      404
history                              GET    veiled     200       200      200       200      200       200      200
release                              GET    veiled     200       200      200       200      200       200      200
submit                               GET    veiled     login     200      200       200      200       200      200
submit                               POST   veiled     login     ->draft  ->draft   ->draft  ->draft   ->draft  ->draft
manage                               GET    veiled     login     403      403       403      403       200      403
batch                                GET    ranks      404       404      200       404      200       200      404
batch_progress                       GET    ranks      404       404      200       404      200       200      404
draft                                POST   veiled     login     404      ->batch   404      404       404      404
rule                                 GET    embargoed  200       200      200       200      200       200      200
batch                                GET    embargoed  200       200      200       200      200       200      200
batch~approved                       GET    embargoed  404       404      200       404      200       200      404
system~approved                      GET    embargoed  404       404      404       404      404       404      404
draft                                GET    public     login     404      200       404      404       404      404
draft                                GET    unlisted   login     404      200       404      404       404      404
draft                                GET    private    login     404      404       404      404       404      404
draft                                POST   public     login     404      ->batch   404      404       404      404
draft                                POST   unlisted   login     404      ->batch   404      404       404      404
draft                                POST   private    login     404      404       404      404       404      404
draft~discard                        POST   public     login     404      ->board   404      404       404      404
draft~discard                        POST   private    login     404      404       404      404       404      404
batch                                GET    public     200       200      200       200      200       200      200
batch                                GET    unlisted   200       200      200       200      200       200      200
batch                                GET    private    404       404      404       200      200       200      404
batch                                POST   any        405       405      405       405      405       405      405
batch~pending                        GET    public     404       404      200       404      200       200      404
batch~pending                        GET    unlisted   404       404      200       404      200       200      404
batch~pending                        GET    private    404       404      404       404      200       200      404
batch_progress                       GET    public     200       200      200       200      200       200      200
batch_progress                       GET    unlisted   200       200      200       200      200       200      200
batch_progress                       GET    private    404       404      404       200      200       200      404
batch_progress                       POST   any        405       405      405       405      405       405      405
batch_progress~pending               GET    public     404       404      200       404      200       200      404
batch_progress~pending               GET    private    404       404      404       404      200       200      404
tokens                               GET    -          login     200       =         =        =         =        =
tokens                               POST   -          login     ->reauthenticate = =        =         =        =
revoke_token                         GET    -          login     405       =         =        =         =        =
revoke_token                         POST   -          login     ->tokens  =         =        =         =        =
sessions                             GET    -          login     200       =         =        =         =        =
sessions                             POST   -          login     ->sessions =        =        =         =        =
second_factor_picture                GET    -          login     404       =         =        =         =        =
second_factor_picture                POST   -          login     405       =         =        =         =        =
notices                              GET    -          login     200       =         =        =         =        =
notices                              POST   -          login     ->notices =         =        =         =        =
notice_choices                       GET    -          login     200       =         =        =         =        =
notice_choices                       POST   -          login     ->notice_choices =  =        =         =        =
unsubscribe                          GET    -          200       =         =         =        =         =        =
unsubscribe                          POST   -          200       =         =         =        =         =        =
mfa_index                            GET    -          login     200       =         =        =         =        =
mfa_index                            POST   -          login     405       =         =        =         =        =
mfa_authenticate                     GET    -          login     ->home    =         =        =         =        =
mfa_authenticate                     POST   -          login     ->home    =         =        =         =        =
mfa_reauthenticate                   GET    -          login     ->reauthenticate =  =        =         =        =
mfa_reauthenticate                   POST   -          login     ->reauthenticate =  =        =         =        =
mfa_activate_totp                    GET    -          login     ->reauthenticate =  =        =         =        =
mfa_activate_totp                    POST   -          login     ->reauthenticate =  =        =         =        =
mfa_deactivate_totp                  GET    -          login     404       =         =        =         =        =
mfa_deactivate_totp                  POST   -          login     404       =         =        =         =        =
mfa_view_recovery_codes              GET    -          login     404       =         =        =         =        =
mfa_view_recovery_codes              POST   -          login     405       =         =        =         =        =
mfa_download_recovery_codes          GET    -          login     404       =         =        =         =        =
mfa_download_recovery_codes          POST   -          login     404       =         =        =         =        =
mfa_generate_recovery_codes          GET    -          login     ->reauthenticate =  =        =         =        =
mfa_generate_recovery_codes          POST   -          login     ->reauthenticate =  =        =         =        =
account_login                        GET    -          200       ->home   =         =        =         =        =
account_login                        POST   -          200       ->home   =         =        =         =        =
account_signup                       GET    -          200       ->home   =         =        =         =        =
account_signup                       POST   -          200       ->home   =         =        =         =        =
account_logout                       GET    -          ->home    200      =         =        =         =        =
account_logout                       POST   -          ->home    =        =         =        =         =        =
account_inactive                     GET    -          200       =        =         =        =         =        =
account_inactive                     POST   -          405       =        =         =        =         =        =
account_reauthenticate               GET    -          login     200      =         =        =         =        =
account_reauthenticate               POST   -          login     200      =         =        =         =        =
account_email                        GET    -          login     200      =         =        =         =        =
account_email                        POST   -          login     ->email =         =        =         =        =
account_email_verification_sent      GET    -          200       =        =         =        =         =        =
account_email_verification_sent      POST   -          405       =        =         =        =         =        =
account_confirm_email                GET    -          200       =        =         =        =         =        =
account_confirm_email                POST   -          404       =        =         =        =         =        =
account_confirm_login_code           GET    -          login     ->home   =         =        =         =        =
account_confirm_login_code           POST   -          login     ->home   =         =        =         =        =
account_change_password              GET    -          login     200      =         =        =         =        =
account_change_password              POST   -          login     200      =         =        =         =        =
account_set_password                 GET    -          login     ->change_password = = =         =        =
account_set_password                 POST   -          login     ->change_password = = =         =        =
account_reset_password               GET    -          200       =        =         =        =         =        =
account_reset_password               POST   -          200       =        =         =        =         =        =
account_reset_password_done          GET    -          200       =        =         =        =         =        =
account_reset_password_done          POST   -          405       =        =         =        =         =        =
account_reset_password_from_key      GET    -          200       =        =         =        =         =        =
account_reset_password_from_key      POST   -          200       =        =         =        =         =        =
account_reset_password_from_key_done GET    -          200       =        =         =        =         =        =
account_reset_password_from_key_done POST   -          405       =        =         =        =         =        =
admin:index                          GET    -          admin     =        =         =        =         =        200
admin:index                          POST   -          admin     =        =         =        =         =        200
admin:app_list                       GET    -          admin     =        =         =        =         =        200
admin:app_list                       POST   -          admin     =        =         =        =         =        200
admin:autocomplete                   GET    -          admin     =        =         =        =         =        ruled
admin:autocomplete                   POST   -          admin     =        =         =        =         =        405
admin:jsi18n                         GET    -          admin     =        =         =        =         =        200
admin:jsi18n                         POST   -          admin     =        =         =        =         =        405
admin:password_change                GET    -          admin     =        =         =        =         =        200
admin:password_change                POST   -          admin     =        =         =        =         =        200
admin:password_change_done           GET    -          admin     =        =         =        =         =        200
admin:password_change_done           POST   -          admin     =        =         =        =         =        405
admin:view_on_site                   GET    -          admin     =        =         =        =         =        ruled
admin:view_on_site                   POST   -          admin     =        =         =        =         =        ruled
admin:auth_user_password_change      GET    -          admin     =        =         =        =         =        ruled
admin:auth_user_password_change      POST   -          admin     =        =         =        =         =        ruled
admin:*_changelist                   GET    -          admin     =        =         =        =         =        ruled
admin:*_changelist                   POST   -          admin     =        =         =        =         =        ruled
admin:*_add                          GET    -          admin     =        =         =        =         =        ruled
admin:*_add                          POST   -          admin     =        =         =        =         =        ruled
admin:*_change                       GET    -          admin     =        =         =        =         =        ruled
admin:*_change                       POST   -          admin     =        =         =        =         =        ruled
admin:*_delete                       GET    -          admin     =        =         =        =         =        ruled
admin:*_delete                       POST   -          admin     =        =         =        =         =        ruled
admin:*_history                      GET    -          admin     =        =         =        =         =        ruled
admin:*_history                      POST   -          admin     =        =         =        =         =        ruled
admin:<path:object_id>/              GET    -          admin     =        =         =        =         =        ruled
admin:<path:object_id>/              POST   -          admin     =        =         =        =         =        ruled
admin:(?P<url>.*)$                   GET    -          admin     =        =         =        =         =        ruled
admin:(?P<url>.*)$                   POST   -          admin     =        =         =        =         =        ruled
admin:login                          GET    -          login     403      =         =        =         =        ->index
admin:login                          POST   -          login     403      =         =        =         =        200
admin:logout                         GET    -          ->index =        =         =        =         =        405
admin:logout                         POST   -          ->index =        =         =        =         =        200
"""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    route: str
    method: str
    visibility: str
    answers: tuple[str, ...]  # in the order of USERS

    def __str__(self) -> str:
        return f"{self.method} {self.route} {self.visibility}"


VEILED = ("ranks", "embargoed")  # public, but not all of it
VISIBILITIES = {
    "any": ("public", "unlisted", "private"),
    "listed": ("public", "unlisted"),
    "veiled": VEILED,
    "-": ("public",),
}


def rows() -> list[Row]:
    lines = [line.split() for line in TABLE.strip().splitlines()[1:]]
    return [
        Row(route, method, visibility, tuple(accumulate(answers, lambda left, cell: left if cell == "=" else cell)))
        for named, method, seen, *answers in lines
        for route in (fnmatch.filter(sorted(routes()), named) if "_*" in named or ":*" in named else [named])
        for visibility in VISIBILITIES.get(seen, (seen,))
    ]


@once
def routes() -> frozenset[str]:
    """The name of every route of the site, admin and accounts included; the API has a matrix of its own."""
    return frozenset(name for name in _routes(get_resolver()) if not name.startswith("api:"))


def _routes(resolver, namespace=""):
    for pattern in resolver.url_patterns:
        if hasattr(pattern, "url_patterns"):
            yield from _routes(pattern, f"{pattern.namespace}:" if pattern.namespace else namespace)
        else:
            yield namespace + (pattern.name or str(pattern.pattern))


class World:
    """One benchmark of one visibility with everything on it, and a client for every kind of user."""

    def __init__(self, make, visibility: str) -> None:
        self.make = make
        shown = "public" if visibility in VEILED else visibility
        self.benchmark = make.benchmark(visibility=shown, submission_policy="moderated")
        people = {role: make.member(self.benchmark, role) for role in ("member", "moderator")}
        people["owner"] = self.benchmark.memberships.get(role="owner").user
        people["stranger"], people["staff"] = make.user(), make.user(is_staff=True, is_superuser=True)
        people["submitter"] = make.user("submitter")
        # A password that fits nothing, where one without any would be asked to set one.
        User.objects.filter(pk__in=[user.pk for user in people.values()]).update(password="set")
        for user in people.values():
            user.refresh_from_db()
        self.people = people
        submitter = people["submitter"]
        membership = submitter.memberships.create(benchmark=self.benchmark, role="member")
        self.accepted = make.pending(self.benchmark, {"E": [1.0, 2.0, 3.0, 4.0, 5.0]}, by=submitter)
        accept_batch(self.accepted, actor=people["owner"])
        self.pending = make.pending(self.benchmark, {"Secret": [1.0] * 5}, by=submitter)
        row = RawRow("Draft system", {task.key: "3" for task in self.benchmark.tasks.all()})
        self.draft = make_draft(audience_of(submitter, self.benchmark), [row], source=Source.FORM)
        membership.delete()
        self.secret = invite(self.benchmark, author=people["owner"], role="member")
        self.approved = make.pending(self.benchmark, {"Under embargo": [1.0] * 5}, by=submitter)
        if visibility == "embargoed":
            self.benchmark.embargo_until = timezone.now() + timedelta(days=1)
            self.benchmark.save(update_fields=["embargo_until"])
            take_batch(self.approved, actor=people["owner"])
        self.benchmark = make.publish(self.benchmark)
        if visibility == "ranks":
            self.benchmark.score_view = "ranks"
            self.benchmark.save(update_fields=["score_view"])
        freeze_revision(self.benchmark, author=people["owner"], number=2, name="Frozen")
        self.webhook = Webhook.objects.create(
            benchmark=self.benchmark, address="https://hooks.example/", events=["revision"]
        )
        self.new_draft = make_benchmark_draft(submitter, name="Draft", table=b"system,Task 1,Task 2\nA,1,2\nB,2,1\n")

        self._sessions = {kind: self._session(user) for kind, user in people.items()}

    @staticmethod
    def _session(user: User) -> str:
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client.cookies[settings.SESSION_COOKIE_NAME].value

    def client(self, kind: str) -> Client:
        """A browser in which a user of this kind is signed in."""
        client = Client(raise_request_exception=False)
        if kind in self._sessions:
            client.cookies[settings.SESSION_COOKIE_NAME] = self._sessions[kind]
        return client

    def path(self, route: str) -> str:
        name, _, variant = route.partition("~")
        values = {
            "key": self.benchmark.key,
            "rule_key": "borda",
            "system_key": {"pending": "secret", "approved": "under-embargo"}.get(variant, "e"),
            "release_key": "frozen",
            "number": 1,
            "study": "missing_scores",
            "secret": self.secret,
            "table": variant or "scores",
            "extension": {"folder": "zip", "orders": "preflib"}.get(variant, "json"),
            "token": unsubscribe_link(self.people["stranger"], ["overtaken"]).split("/")[-2],
            "uuid": self.number(name, variant),
        }
        if name in PATHS:
            return PATHS[name]
        arguments = [values[key] for key in ARGUMENTS.get(name, ())]
        asked = {"asked": "?conditions=Task+1+%3E%3D+0.5", "weighed": "?weights=task-1:3"}.get(variant, "")
        return reverse(name, args=arguments or (["1"] if has_object(name) else [])) + asked

    def number(self, name: str, variant: str) -> UUID:
        rows = {"draft": self.draft, "new_draft": self.new_draft, "correct": self.accepted.submissions.get()}
        batches = {"pending": self.pending, "approved": self.approved}
        if name == "takedown":
            return batches.get(variant, self.accepted).submissions.get().uuid
        variant = "pending" if name == "manage_decide" else variant
        return rows.get(name, batches.get(variant, self.accepted)).uuid

    def form(self, route: str) -> dict[str, str]:
        if route.startswith("upload"):
            return {"text": "system,Task 1,Task 5\nNew system,1,2\nOther system,3,\n"}
        if route.startswith("submit"):
            scores = {f"score-{task.key}": "5" for task in self.benchmark.tasks.all()}
            return {"system_name": "New system", **scores}
        if route == "manage_webhooks~test":
            return {"action": "test", "webhook": str(self.webhook.uuid)}
        if route in FORMS or route == "new_draft":
            return FORMS.get(route) or new_draft_form()
        filled = {"manage": settings_form, "manage_tasks": tasks_form, "manage_studies": studies_form}
        if route in filled:
            return filled[route](self.benchmark)
        if route == "notice_choices":
            ways = {"decision": "site", "overtaken": "mail", "first_place": "off", "waiting": "mail", "token": "mail"}
            return ways | {"webhook": "site"}
        if route == "tokens":
            return {"name": "laptop", "scopes": "read", "days": "30"}
        if route.endswith("draft~discard"):
            return {"action": "discard"}
        if route == "draft":
            number = str(self.benchmark.last_revision_number)
            return {"action": "confirm", "previewed_number": number, "create_system": "1"}
        return {}

    def answer(self, row: Row, kind: str) -> str:
        """What a user of this kind gets; whatever it changed is taken back."""
        before = transaction.savepoint()
        try:
            if row.route.endswith(("~owners", "~closed")):
                policy = row.route.partition("~")[2]
                Benchmark.objects.filter(pk=self.benchmark.pk).update(submission_policy=policy)
            client, path = self.client(kind), self.path(row.route)
            response = client.post(path, self.form(row.route)) if row.method == "POST" else client.get(path)
            # No cache that others share keeps a page: it may tell who reads it, and what they may see. Badges and feeds
            # of public benchmarks, and pictures of the documentation, are the same for everybody.
            kept = set(response.get("Cache-Control", "").replace(",", " ").split())
            is_open = self.benchmark.visibility == "public" or row.route in OF_THE_SITE
            # The list has public benchmarks alone for readers who are not signed in.
            is_open = is_open or (row.route.partition("~")[0], kind) == ("home", "anonymous")
            assert {"private", "no-store"} & kept or ("public" in kept and is_open)
            return said(response)
        finally:
            transaction.savepoint_rollback(before)


OF_THE_SITE = {"feed_of_all", "document_file"}  # about no benchmark, or about public ones alone

FORMS = {
    "manage_queue": {"action": "accept"},
    "manage_decide": {"action": "accept"},
    "manage_people": {"action": "invite", "role": "member"},
    "manage_webhooks": {"address": "https://hooks.example/x", "events": "publication"},
    "batch_step": {"action": "withdraw", "reason": "It was wrong."},
    "batch_step~pending": {"action": "retract"},
    "takedown": {"reason": "A request.", "is_sure": "1"},
    "correct": {"score-task-1": "5", "note": "The wrong log."},
    "manage_releases": {"number": "2", "name": "Frozen again"},
    "manage_edition": {"name": "Second edition"},
    "manage_archive": {"archived": "1"},
    "manage_clusters": {"suggestion": "0", "revision": "1"},
    "run_study": {"study": "missing_scores"},
    "what_if_profiles": {"name": "Mine", "weights": "task-1:3"},
    "what_if_profiles~publish": {"name": "For all", "weights": "task-1:3", "is_published": "1"},
    "new": {"name": "New", "text": "system,T\nA,1\n"},
    "try": {"text": "system,T\nA,1\nB,2\n"},
}


def settings_form(benchmark):
    """The settings as the owner's page shows them."""
    form = SettingsForm(instance=benchmark)
    return {name: form[name].value() or "" for name in form.fields} | {"tags": "one, two"}


def studies_form(benchmark):
    """The choices as the owner's page shows them."""
    form = StudiesForm(choices_of(benchmark))
    return {name: form[name].value() for name in form.fields}


def tasks_form(benchmark):
    """A weight changed, and everything else as the owner's page shows it."""
    return sent(ProposalForms(present_proposal(benchmark))) | {"task-0-weight": "3", "action": "preview"}


def new_draft_form():
    """A draft of a benchmark, created as it stands."""
    tasks = [TaskEdit("Task 1"), TaskEdit("Task 2")]
    counting = {"missing_policy": "drop_systems", "aggregation": "basic", "replacement": "row"}
    parts = sent(ProposalForms(Proposal(tasks=tasks, groups=[], **counting), new_tasks=0))
    about = {"name": "Made", "visibility": "public", "submission_policy": "open", "default_rule": "borda"}
    return parts | about | {"action": "create"}


def sent(parts):
    """What a browser sends of the three parts when nothing is typed."""
    forms = [parts.counting, parts.tasks.management_form, parts.groups.management_form, *parts.tasks, *parts.groups]
    fields = [form[name] for form in forms for name in form.fields if name != "is_archived"]
    return {field.html_name: "" if field.value() is None else str(field.value()) for field in fields}


ARGUMENTS = {
    "manage_queue": ("key",),
    "manage_decide": ("key", "uuid"),
    "manage_people": ("key",),
    "manage_webhooks": ("key",),
    "manage_audit": ("key",),
    "manage_audit_csv": ("key",),
    "join": ("secret",),
    "unsubscribe": ("token",),
    "batch_step": ("uuid",),
    "history": ("key",),
    "release": ("key", "release_key"),
    "manage": ("key",),
    "manage_tasks": ("key",),
    "manage_releases": ("key",),
    "manage_studies": ("key",),
    "run_study": ("key",),
    "compute_board": ("key",),
    "compute_ranks": ("key", "number"),
    "manage_edition": ("key",),
    "manage_archive": ("key",),
    "manage_clusters": ("key",),
    "new_draft": ("uuid",),
    "board": ("key",),
    "board_csv": ("key",),
    "board_download": ("key", "extension"),
    "export": ("key", "table", "extension"),
    "submit": ("key",),
    "upload": ("key",),
    "correct": ("key", "uuid"),
    "takedown": ("uuid",),
    "rule": ("key", "rule_key"),
    "rule_page": ("rule_key",),
    "head_to_head": ("key",),
    "agreement": ("key",),
    "history_compare": ("key",),
    "prospects": ("key",),
    "what_if": ("key",),
    "what_if_data": ("key",),
    "what_if_profiles": ("key",),
    "stability": ("key",),
    "instances": ("key",),
    "distribution": ("key", "study"),
    "system": ("key", "system_key"),
    "system_badge": ("key", "system_key"),
    "badge": ("key",),
    "embed": ("key",),
    "card": ("key",),
    "feed": ("key",),
    "draft": ("uuid",),
    "batch": ("uuid",),
    "batch_progress": ("uuid",),
}


# Where a name does not lead to an address, or needs more than the number of a row.
PATHS = {
    "account_confirm_email": "/account/confirm-email/abc/",
    "document": "/docs/rules/borda/",
    "document_file": "/docs/files/figures/open-steadiness.svg",
    "account_reset_password_from_key": "/account/password/reset/key/1-abc/",
    "admin:app_list": "/admin/auth/",
    "admin:view_on_site": "/admin/r/1/1/",
    "admin:<path:object_id>/": "/admin/auth/group/1/",
    "admin:(?P<url>.*)$": "/admin/nothing/",
}


def has_object(name: str) -> bool:
    """Whether an admin route is about one row."""
    is_about_one = name.endswith(("_change", "_delete", "_history", "_user_password_change"))
    return name.startswith("admin:") and is_about_one and name != "admin:password_change"


def said(response: HttpResponse) -> str:
    """An answer in the table's words."""
    if response.status_code != 302:
        return str(response.status_code)
    path = response["Location"].split("?")[0]
    if path in (reverse("account_login"), reverse("admin:login")):
        return "login" if path == reverse("account_login") else "admin"
    name = resolve(path).view_name
    return f"->{name.removeprefix('account_').removeprefix('admin:')}"


@pytest.fixture(scope="module")
def worlds(django_db_setup, django_db_blocker):
    """A world of each visibility, made once in a transaction that is rolled back."""
    with django_db_blocker.unblock(), transaction.atomic():
        make = Factory()
        yield {visibility: World(make, visibility) for visibility in ("public", "unlisted", "private", *VEILED)}
        transaction.set_rollback(True)


@pytest.mark.parametrize("row", rows(), ids=str)
def test_every_kind_of_user_gets_the_answer_of_the_table(worlds, row):
    cache.clear()
    world = worlds[row.visibility]
    found = {kind: world.answer(row, kind) for kind in USERS}
    expected = dict(zip(USERS, row.answers, strict=True))
    if expected["staff"] == "ruled":
        assert found["staff"] not in ("500", "login", "admin")
        expected["staff"] = found["staff"]
    assert found == expected


def test_every_route_of_the_site_has_a_row_for_both_methods():
    stated = {(row.route.partition("~")[0], row.method) for row in rows()}
    assert {route for route in routes() if {(route, "GET"), (route, "POST")} - stated} == set()


# --- What exists and may not be known -----------------------------------------------------------------------------


def answers_to(world: World, kind: str, path: str) -> tuple[int, bytes, dict[str, str]]:
    response = world.client(kind).get(path)
    # An id is of one request.
    headers = {name: value for name, value in response.headers.items() if name != "X-Request-ID"}
    return response.status_code, response.content, headers


@pytest.mark.parametrize("kind", ["stranger", "submitter", "staff", "anonymous"])
@pytest.mark.parametrize(
    "route",
    [
        "board", "board_csv", "board_download", "rule", "head_to_head", "agreement", "history_compare", "prospects",
        "prospects~asked", "what_if", "what_if~weighed", "what_if_data", "stability", "distribution", "instances",
        "system", "submit", "upload", "draft", "batch",
        "badge", "system_badge", "embed", "card", "feed",
        "batch_progress", "history", "release", "manage", "manage_tasks", "manage_studies",
        "manage_releases", "manage_queue", "manage_people", "manage_audit", "manage_webhooks",
    ],
)  # fmt: skip
def test_what_is_private_answers_as_what_is_not_there(worlds, kind, route):
    world = worlds["private"]
    there = world.path(route)
    missing = there.replace(world.benchmark.key, "no-such-benchmark")
    for stored in (world.draft, world.accepted):
        missing = missing.replace(str(stored.uuid), "00000000-0000-4000-8000-000000000000")
    assert missing != there
    status, body, headers = answers_to(world, kind, there)
    nothing_status, nothing_body, nothing_headers = answers_to(world, kind, missing)
    headers.pop("Location", None), nothing_headers.pop("Location", None)  # to sign in, and then to the same address
    assert (status, body, headers) == (nothing_status, nothing_body, nothing_headers)


@pytest.mark.parametrize("kind", ["stranger", "moderator", "staff", "anonymous"])
@pytest.mark.parametrize("route", ["draft", "batch~pending"])
def test_somebody_elses_draft_and_a_pending_batch_answer_as_what_is_not_there(worlds, kind, route):
    world = worlds["public"]
    if (kind, route) == ("moderator", "batch~pending"):
        assert answers_to(world, kind, world.path(route))[0] == 200
        return
    there = world.path(route)
    missing = there.replace(str(world.draft.uuid), str(uuid4())).replace(str(world.pending.uuid), str(uuid4()))
    headers, nothing_headers = answers_to(world, kind, there)[2], answers_to(world, kind, missing)[2]
    headers.pop("Location", None), nothing_headers.pop("Location", None)
    assert answers_to(world, kind, there)[:2] == answers_to(world, kind, missing)[:2]
    assert headers == nothing_headers


@pytest.mark.parametrize("visibility", ["unlisted", "private"])
@pytest.mark.parametrize("kind", ["anonymous", "stranger", "submitter", "staff"])
def test_lists_do_not_mention_what_is_not_public(make, visibility, kind):
    hidden = World(make, visibility)
    hidden.benchmark.tags = ["secret-tag"]
    hidden.benchmark.name, hidden.benchmark.description = "Unheard of", "Unheard of"
    hidden.benchmark.save()
    client = hidden.client(kind)
    before = {path: client.get(path).content for path in ("/", "/status/", "/?tag=secret-tag", "/?q=unheard")}
    Job.objects.filter(benchmark=hidden.benchmark).update(state="running", started_at=timezone.now(), worker="w")
    assert {path: client.get(path).content for path in before} == before
    assert not any(b"Unheard" in body.replace(b"unheard", b"") for body in before.values())
    assert b"secret-tag" not in before["/"]
    assert '<td class="number">0</td><td class="number">0</td>' in compact(before["/status/"].decode())


@pytest.mark.parametrize("kind", ["member", "moderator", "owner"])
def test_lists_mention_what_is_private_to_its_own_people(make, kind):
    world = World(make, "private")
    client = world.client(kind)
    assert world.benchmark.name in client.get("/").content.decode()
    assert world.benchmark.name in client.get("/status/").content.decode()


def test_a_search_finds_only_what_the_reader_may_know_of(make):
    for visibility in ("public", "unlisted", "private"):
        make.published(name=f"Speech {visibility}", visibility=visibility)
    found = Client().get("/?q=speech").content.decode()
    assert [name for name in ("public", "unlisted", "private") if f"Speech {name}" in found] == ["public"]


def test_the_name_of_a_pending_system_is_not_suggested(make):
    benchmark = make.benchmark(submission_policy="moderated")
    make.pending(benchmark, {"Hidden Champion": [1.0] * 5}, by=make.user())
    row = RawRow("Hidden Champions", {task.key: "3" for task in benchmark.tasks.all()})
    assert (
        make_draft(audience_of(make.user(), benchmark), [row], source=Source.FORM).rows[0]["system"]["near_misses"]
        == []
    )


def test_a_pending_system_is_on_no_page_and_in_no_download(worlds):
    world = worlds["public"]
    for path in (world.path("board"), world.path("board_csv"), world.path("submit"), world.path("system")):
        for kind in ("stranger", "member", "moderator"):
            assert b"Secret" not in world.client(kind).get(path).content


def test_staff_without_permissions_see_no_row_in_the_admin(make):
    client = Client()
    client.force_login(make.user(is_staff=True), backend="django.contrib.auth.backends.ModelBackend")
    lists = sorted(route for route in routes() if route.startswith("admin:") and route.endswith("_changelist"))
    assert len(lists) > 10
    assert {route: client.get(reverse(route)).status_code for route in lists} == dict.fromkeys(lists, 403)
