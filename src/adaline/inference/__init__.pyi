from adaline.inference.nested_models import Anova as Anova
from adaline.inference.nested_models import Deviances as Deviances
from adaline.inference.nested_models import FamilyDeviances as FamilyDeviances
from adaline.inference.nested_models import LikelihoodRatio as LikelihoodRatio
from adaline.inference.nested_models import anova as anova
from adaline.inference.nested_models import likelihood_ratio as likelihood_ratio
from adaline.inference.table import RegressionTable as RegressionTable
from adaline.inference.table import regression_table as regression_table
